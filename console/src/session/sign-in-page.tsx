// Signs in with an API key, or with the identity provider if the operator has configured one.
import {
  Alert,
  Anchor,
  Button,
  Card,
  Center,
  Divider,
  PasswordInput,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { type OwnApiKey, PetstoreError } from '@petstore/client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Logo } from '../layout/logo.tsx'
import { endedText } from './ended-text.ts'
import { openStore, startSession, useSession } from './session.ts'

export function SignInPage() {
  const { ended } = useSession()
  const [apiKey, setApiKey] = useState('')
  const signIn = useMutation({
    mutationFn: async (key: string): Promise<{ apiKey: string; own: OwnApiKey }> => ({
      apiKey: key,
      own: await openStore(key).apiKeys.own(),
    }),
    onSuccess: (session) => startSession({ id: randomId(), ...session }),
  })

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (apiKey.trim() !== '') signIn.mutate(apiKey.trim())
  }

  return (
    <Center component="main" mih="100dvh" p="md">
      <Card withBorder padding="xl" radius="lg" w="100%" maw={420}>
        <Stack>
          <Logo />
          <Title order={1} size="h2">
            Sign in
          </Title>
          {ended !== undefined && <Alert color="yellow">{endedText(ended)}</Alert>}
          <form onSubmit={submit}>
            <Stack>
              <PasswordInput
                label="API key"
                description="Your administrator gives you a key. It starts with petstore_."
                autoComplete="off"
                autoFocus
                value={apiKey}
                error={signIn.error && keyFault(signIn.error)}
                onChange={(event) => setApiKey(event.currentTarget.value)}
              />
              {signIn.error && keyFault(signIn.error) === undefined && <ErrorMessage error={signIn.error} />}
              <Button type="submit" loading={signIn.isPending} disabled={apiKey.trim() === ''}>
                Sign in
              </Button>
            </Stack>
          </form>
          <Divider />
          <Text size="sm" c="dimmed">
            You stay signed in until you close the browser. Developers: see the{' '}
            <Anchor href="/docs" inherit>
              API reference
            </Anchor>
            .
          </Text>
        </Stack>
      </Card>
    </Center>
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

/** `crypto.randomUUID` exists only in secure contexts (HTTPS). */
function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('')
}
