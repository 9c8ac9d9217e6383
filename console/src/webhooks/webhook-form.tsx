// The fields of a webhook: what it is for, where it sends, and which events.
import { Button, Checkbox, Stack, TextInput } from '@mantine/core'
import { DialogFoot } from '../layout/dialog.tsx'
import { useForm } from '@mantine/form'
import { PetstoreError } from '@petstore/client'
import { NEW_WEBHOOK } from '@petstore/client/rules'
import type { ReactNode } from 'react'
import { useScopes } from '../session/session.ts'
import { type EventType, isOfOrder, TYPE_TEXTS } from './event-types.ts'

export interface WebhookValues {
  description: string
  url: string
  types: EventType[]
}

interface Props {
  initialValues: WebhookValues
  submitLabel: string
  isPending: boolean
  error: Error | null
  /** Shows an error that belongs to no field. */
  renderError: (error: Error) => ReactNode
  onSubmit: (values: WebhookValues) => void
  onCancel: () => void
}

export function WebhookForm(props: Props) {
  const { initialValues, submitLabel, isPending, error, renderError, onSubmit, onCancel } = props
  const canReadOrders = useScopes().has('orders:read')
  const form = useForm<WebhookValues>({
    initialValues,
    transformValues: ({ description, url, types }) => ({
      description: description.trim(),
      url: url.trim(),
      types,
    }),
    validate: {
      description: (text) => (text.trim() === '' ? 'Enter the program that receives the messages.' : null),
      url: (text) =>
        /^https?:\/\//i.test(text.trim())
          ? null
          : 'Enter an address that starts with https:// or http://, such as https://shop.example/webhooks.',
      types: (types) => (types.length === 0 ? 'Choose at least one event.' : null),
    },
  })
  const allowed = TYPE_TEXTS.map(({ type }) => type).filter((type) => canReadOrders || !isOfOrder(type))
  const chooseAllOrNone = () => form.setFieldValue('types', form.values.types.length === 0 ? allowed : [])
  const urlFault = error === null ? undefined : faultOfUrl(error)
  return (
    <form onSubmit={form.onSubmit(onSubmit)} noValidate>
      <Stack>
        <TextInput
          label="What it is for"
          description="The program that receives the messages."
          placeholder="Web shop"
          withAsterisk
          data-autofocus
          maxLength={NEW_WEBHOOK.description.maxLength}
          {...form.getInputProps('description')}
        />
        <TextInput
          label="Address"
          description="The developers of the program know it."
          placeholder="https://shop.example/webhooks"
          withAsterisk
          type="url"
          maxLength={NEW_WEBHOOK.url.maxLength}
          {...form.getInputProps('url')}
          error={form.errors['url'] ?? urlFault}
        />
        <Checkbox.Group
          label="Events to send"
          {...form.getInputProps('types')}
          onChange={(types) => form.setFieldValue('types', types as EventType[])}
        >
          <Button variant="subtle" size="compact-sm" mt={4} onClick={chooseAllOrNone}>
            {form.values.types.length === 0 ? 'Choose all' : 'Choose none'}
          </Button>
          {TYPE_TEXTS.map(({ type, label, when }) => (
            <Checkbox
              key={type}
              value={type}
              label={label}
              description={when}
              className="choice"
              // The service does not accept events that the key cannot read.
              disabled={isOfOrder(type) && !canReadOrders}
            />
          ))}
        </Checkbox.Group>
        {error !== null && urlFault === undefined && renderError(error)}
        <DialogFoot>
          <Button variant="default" disabled={isPending} onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending}>
            {submitLabel}
          </Button>
        </DialogFoot>
      </Stack>
    </form>
  )
}

/** What the service does not accept about the address, such as a private host. */
function faultOfUrl(error: Error): string | undefined {
  if (!(error instanceof PetstoreError)) return undefined
  return error.details.find(({ field }) => field === 'url')?.message.replace(/^url /, 'The address ')
}
