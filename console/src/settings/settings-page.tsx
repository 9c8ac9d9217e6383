// The settings of the shop, for administrators. Nothing is saved before "Save".
import './settings.css'
import { Alert, Checkbox, Textarea, TextInput } from '@mantine/core'
import { PetstoreError, type VersionedSettings } from '@petstore/client'
import { SETTINGS_CHANGE } from '@petstore/client/rules'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { hasCode } from '../layout/describe-error.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { useNotify } from '../layout/notify.tsx'
import { Page } from '../layout/page.tsx'
import { KEYS } from '../session/query-keys.ts'
import { useScopes, useStore } from '../session/session.ts'
import { settingsQuery } from '../shop/queries.ts'
import { changeOf, type Draft, edited, type Name, rebased, type Values, valuesOf } from './draft.ts'
import { FootBar } from './foot-bar.tsx'
import { LastReceipt } from './last-receipt.tsx'
import { MoneyFields } from './money-fields.tsx'

const TITLE = 'Settings'

export function SettingsPage() {
  return useScopes().has('admin') ? (
    <Settings />
  ) : (
    <Page title={TITLE}>
      <Alert color="gray" title="Your key does not allow this page">
        Only administrators change the settings of the shop.
      </Alert>
    </Page>
  )
}

function Settings() {
  const { data: settings, error, refetch } = useQuery(settingsQuery(useStore()))
  if (settings !== undefined) return <Form settings={settings} />
  return (
    <Page title={TITLE}>
      {error === null ? (
        <Loading what="the settings" height={120} rows={3} />
      ) : (
        <ErrorMessage error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  )
}

function Form({ settings }: { settings: VersionedSettings }) {
  const [draft, setDraft] = useState<Draft>()
  const { save, isPending, error, reset } = useSave(setDraft)
  const values = draft?.values ?? valuesOf(settings)
  const faultOf = (name: Name) => faultIn(error, name)

  function change(changed: Partial<Values>): void {
    reset()
    setDraft(edited(settings, draft, changed))
  }

  function submit(event?: FormEvent): void {
    event?.preventDefault()
    if (draft !== undefined && !isPending) save(draft)
  }

  return (
    <Page title={TITLE} isFlush>
      <form className="settings" onSubmit={submit} noValidate>
        <Part title="Shop" about="On receipts.">
          <TextInput
            label="Name"
            autoComplete="off"
            maxLength={SETTINGS_CHANGE.name.maxLength}
            value={values.name}
            error={faultOf('name')}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <Textarea
            label="Address"
            rows={3}
            maxLength={SETTINGS_CHANGE.address.maxLength}
            value={values.address}
            error={faultOf('address')}
            onChange={(event) => change({ address: event.currentTarget.value })}
          />
        </Part>
        <Part
          title="Receipt"
          about={
            <>
              At its foot, in your own words. <LastReceipt />
            </>
          }
        >
          <Textarea
            label="Text"
            rows={3}
            maxLength={SETTINGS_CHANGE.receiptText.maxLength}
            value={values.receiptText}
            error={faultOf('receiptText')}
            onChange={(event) => change({ receiptText: event.currentTarget.value })}
          />
          <Checkbox
            className="choice"
            label="Print “This is not a tax invoice”"
            description="Switch it off only if your own text makes it one. Ask whoever does your taxes."
            checked={!values.isTaxInvoice}
            onChange={(event) => change({ isTaxInvoice: !event.currentTarget.checked })}
          />
        </Part>
        <Part title="Money and days" about="What an amount and a day mean, in the till and in every list.">
          <MoneyFields settings={settings} values={values} faultOf={faultOf} onChange={change} />
        </Part>
        {error !== null && !isShownElsewhere(error) && (
          <div className="settings-error">
            <ErrorMessage error={error} />
          </div>
        )}
        <FootBar
          settings={settings}
          draft={draft}
          isPending={isPending}
          onSave={submit}
          onKeep={() => setDraft(draft && rebased(draft, settings))}
          onDiscard={() => {
            reset()
            setDraft(undefined)
            focusContent()
          }}
        />
      </form>
    </Page>
  )
}

interface PartProps {
  title: string
  about: ReactNode
  children: ReactNode
}

function Part({ title, about, children }: PartProps) {
  const id = useId()
  return (
    <section className="form-part" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <p>{about}</p>
      </header>
      <div>{children}</div>
    </section>
  )
}

function useSave(setDraft: (draft: Draft | undefined) => void) {
  const store = useStore()
  const cache = useQueryClient()
  const notify = useNotify()
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (draft: Draft) => store.settings.update(changeOf(draft), { ifMatch: draft.base.etag }),
    onSuccess: async (saved) => {
      // A read that started before would show the former settings again.
      await cache.cancelQueries({ queryKey: KEYS.settings })
      cache.setQueryData(KEYS.settings, saved)
      setDraft(undefined)
      notify.done('The settings are saved.')
      focusContent()
    },
    // Another person can have changed them, or taken money meanwhile.
    onError: () => void cache.invalidateQueries({ queryKey: KEYS.settings }),
  })
  return { save: mutate, isPending, error, reset }
}

/** The buttons that had the focus are gone. */
function focusContent(): void {
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** What the service does not accept about a field. */
function faultIn(error: Error | null, name: Name): string | undefined {
  if (!(error instanceof PetstoreError)) return undefined
  return error.details.find(({ field }) => field === name)?.message
}

/** The foot says who was faster, the fields say what is wrong with them, and why they are locked. */
function isShownElsewhere(error: Error): boolean {
  const isOfField = error instanceof PetstoreError && error.details.length > 0
  return isOfField || hasCode(error, 'precondition_failed')
}
