// Creates a key: its name, what it allows, and how long it is valid.
import { Button, Checkbox, Chip, Group, Input, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { DialogFoot } from '../layout/dialog.tsx'
import { useForm } from '@mantine/form'
import { type ApiKey, PetstoreError } from '@petstore/client'
import { NEW_API_KEY } from '@petstore/client/rules'
import type { ReactNode } from 'react'
import { dateText } from '../layout/dates.ts'
import { SecretDialog } from '../layout/secret-dialog.tsx'
import { SecretError } from '../layout/secret-error.tsx'
import { issuedKey, KEY_LOST_ADVICE } from './issued-key.ts'
import { hasEnded } from './key-state.ts'
import { LIFETIME_DEFAULT, LIFETIMES, secondsOf } from './lifetimes.ts'
import { useCreateApiKey } from './queries.ts'
import { PRESETS, presetOf, type Scope, SCOPE_TEXTS } from './scopes.ts'

interface Props {
  apiKeys: ApiKey[]
  onClose: () => void
}

interface Values {
  name: string
  scopes: Scope[]
  lifetime: string
}

export function CreateDialog({ apiKeys, onClose }: Props) {
  const create = useCreateApiKey()
  const form = useForm<Values>({
    initialValues: { name: '', scopes: [], lifetime: LIFETIME_DEFAULT },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter the program or person that uses the key.' : null),
      scopes: (scopes) =>
        scopes.length === 0 ? 'Choose what the key is for, or at least one permission below.' : null,
    },
  })
  const { name, lifetime } = form.values

  function submit(values: Values): void {
    const expiresInSeconds = secondsOf(LIFETIMES, values.lifetime)
    const apiKey = { name: values.name.trim(), scopes: values.scopes, expiresInSeconds }
    const onError = (error: Error) => {
      const fault = nameFault(error)
      if (fault !== undefined) form.setFieldError('name', fault)
    }
    create.mutate(apiKey, { onError })
  }

  return (
    <SecretDialog
      title="Create an API key"
      secret={create.data && issuedKey(create.data)}
      hint="Give it only to the program or person that you made it for."
      isPending={create.isPending}
      onClose={onClose}
    >
      <form onSubmit={form.onSubmit(submit)} noValidate>
        <Stack>
          <TextInput
            label="Name"
            description="The program or person that uses the key. The history of a pet shows this name."
            placeholder="web-shop"
            withAsterisk
            data-autofocus
            maxLength={NEW_API_KEY.name.maxLength}
            {...form.getInputProps('name')}
          />
          {isNameTaken(name, apiKeys) && (
            <Text size="sm" c="dimmed">
              Another valid key has this name. To replace that key, choose “Rotate” in the list instead.
            </Text>
          )}
          <PresetField
            value={form.values.scopes}
            error={form.errors['scopes']}
            onChange={(scopes) => form.setFieldValue('scopes', scopes)}
          />
          <Input.Wrapper
            label="Valid for"
            description={expiryText(lifetime)}
            labelElement="div"
            id="lifetime"
          >
            <SegmentedControl
              fullWidth
              mt={6}
              aria-label="Valid for"
              data={LIFETIMES.map(({ value, label }) => ({ value, label }))}
              {...form.getInputProps('lifetime')}
            />
          </Input.Wrapper>
          <Checkbox.Group
            label="Permissions"
            value={form.values.scopes}
            onChange={(scopes) => form.setFieldValue('scopes', scopes)}
          >
            {SCOPE_TEXTS.map(({ scope, label, allows }) => (
              <Checkbox key={scope} value={scope} label={label} description={allows} className="choice" />
            ))}
          </Checkbox.Group>
          {create.error && nameFault(create.error) === undefined && (
            <SecretError error={create.error} advice={KEY_LOST_ADVICE} />
          )}
          <DialogFoot>
            <Button variant="default" disabled={create.isPending} onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create key
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </SecretDialog>
  )
}

interface PresetProps {
  value: Scope[]
  error: ReactNode
  onChange: (scopes: Scope[]) => void
}

/** Chooses the permissions of a common use. No preset is chosen at first, so that nobody gets one by accident. */
function PresetField({ value, error, onChange }: PresetProps) {
  const choose = (name: string) => onChange(PRESETS.find((preset) => preset.name === name)?.scopes ?? [])
  return (
    <Input.Wrapper label="What the key is for" labelElement="div" id="preset" error={error}>
      <Chip.Group value={presetOf(value)?.name ?? null} onChange={(name) => choose(name)}>
        <Group gap="xs" role="group" aria-label="What the key is for">
          {PRESETS.map(({ name }) => (
            <Chip key={name} value={name} className="preset">
              {name}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </Input.Wrapper>
  )
}

function isNameTaken(name: string, apiKeys: ApiKey[]): boolean {
  return apiKeys.some((apiKey) => apiKey.name === name.trim() && !hasEnded(apiKey, Date.now()))
}

function expiryText(lifetime: string): string {
  const seconds = secondsOf(LIFETIMES, lifetime)
  return seconds === undefined
    ? 'A lost key then stays dangerous until you revoke it.'
    : `Until ${dateText(Date.now() + seconds * 1_000)}. Rotate the key before that day.`
}

/** What the service does not accept about the name, such as a reserved one. */
function nameFault(error: Error): string | undefined {
  if (!(error instanceof PetstoreError)) return undefined
  return error.details.find(({ field }) => field === 'name')?.message
}
