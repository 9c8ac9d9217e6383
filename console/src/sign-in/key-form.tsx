// Signs in with an API key that an administrator has created.
import { Button, PasswordInput, Stack } from '@mantine/core'
import { PetstoreError } from '@petstore/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ErrorMessage } from '../layout/error-message.tsx'
import { openStore, randomId, startSession } from '../session/session.ts'

export function KeyForm() {
  const [apiKey, setApiKey] = useState('')
  const signIn = useMutation({
    mutationFn: async (key: string) => ({ apiKey: key, own: await openStore(key).apiKeys.own() }),
    onSuccess: (known) => startSession({ id: randomId(), ...known }),
  })
  const fault = signIn.error === null ? undefined : keyFault(signIn.error)

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (apiKey.trim() !== '') signIn.mutate(apiKey.trim())
  }

  return (
    <form onSubmit={submit}>
      <Stack>
        <PasswordInput
          label="API key"
          description="Your administrator gives you a key. It starts with petstore_."
          autoComplete="off"
          autoFocus
          value={apiKey}
          error={fault}
          onChange={(event) => setApiKey(event.currentTarget.value)}
        />
        {signIn.error !== null && fault === undefined && <ErrorMessage error={signIn.error} />}
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

/** The text for a key that the service rejects. Other errors have their own message. */
function keyFault(error: Error): string | undefined {
  if (error instanceof PetstoreError && error.status === 401) {
    return 'This key is not valid. Check that you copied all of it, or ask for a new one.'
  }
  // A key with characters that a header cannot contain.
  return error instanceof TypeError ? 'A key contains only letters, digits and underscores.' : undefined
}
