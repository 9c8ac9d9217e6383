// Signs in with the identity provider if the operator has configured one, otherwise with an API key.
import { Alert, Anchor, Button, Card, Center, Divider, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Loading } from '../layout/loading.tsx'
import { Logo } from '../layout/logo.tsx'
import { usePageTitle } from '../layout/page-title.ts'
import { endedText } from './ended-text.ts'
import { findProvider, goToProvider, type Provider } from '../session/identity-provider.ts'
import { KeyForm } from './key-form.tsx'
import { useSession } from '../session/session.ts'
import { signInError } from './sign-in-errors.ts'

export function SignInPage() {
  usePageTitle('Sign in')
  const { ended } = useSession()
  const failure = signInError(location.search)
  const { data: provider, isPending } = useQuery({ queryKey: ['provider'], queryFn: findProvider })
  return (
    <Center component="main" mih="100dvh" p="md" className="sign-in">
      <Card withBorder padding="xl" radius="lg" w="100%" maw={420}>
        <Stack>
          <Logo />
          <Title order={1} size="h2">
            Sign in
          </Title>
          {ended?.reason === 'signed-out' && (
            <Text role="status" c="dimmed">
              You have signed out.
            </Text>
          )}
          {ended?.reason === 'rejected' && <Alert color="yellow">{endedText(ended)}</Alert>}
          {ended === undefined && failure !== undefined && (
            <Alert color="red" role="alert">
              {failure}
            </Alert>
          )}
          {isPending && <Loading what="the ways to sign in" height={104} />}
          {!isPending && (provider ? <WithProvider provider={provider} /> : <KeyForm />)}
          <Divider />
          <Text size="sm" c="dimmed">
            You stay signed in until you close the browser. Developers: see the{' '}
            <Anchor href="/docs" inherit underline="always">
              API reference
            </Anchor>
            .
          </Text>
        </Stack>
      </Card>
    </Center>
  )
}

function WithProvider({ provider }: { provider: Provider }) {
  const [isLeaving, setLeaving] = useState(false)
  const [usesKey, setUsesKey] = useState(false)
  const leave = () => {
    setLeaving(true)
    goToProvider(provider)
  }
  return (
    <>
      <Button size="md" className="wrapping" autoFocus loading={isLeaving} onClick={leave}>
        Continue with {provider.name}
      </Button>
      {usesKey ? (
        <KeyForm />
      ) : (
        <Button variant="subtle" onClick={() => setUsesKey(true)}>
          Use an API key instead
        </Button>
      )}
    </>
  )
}
