// What to do in a store without pets: add one, import a file, or connect a program.
import './first-steps.css'
import { Card, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { ButtonLink } from '../layout/button-link.tsx'
import { useScopes } from '../session/session.ts'

export function FirstSteps() {
  const scopes = useScopes()
  const canWrite = scopes.has('pets:write')
  return (
    <Stack py="md">
      <div>
        <Title order={2} size="h4">
          No pets yet
        </Title>
        <Text c="dimmed">
          {canWrite
            ? 'Start in one of these ways. New pets appear here at once.'
            : 'Pets appear here as soon as someone adds them. Your key cannot add pets.'}
        </Text>
      </div>
      {canWrite && (
        <div className="first-steps">
          <Step
            title="Add a pet"
            text="Enter a name and a category. Price, breed and other facts can follow later."
          >
            <ButtonLink to="/" search={{ add: true }}>
              Add the first pet
            </ButtonLink>
          </Step>
          <Step
            title="Import a file"
            text="Many pets at once, from a CSV file. You see what is in it before anything is added."
          >
            <ButtonLink variant="default" to="/import">
              Choose a file
            </ButtonLink>
          </Step>
          {scopes.has('admin') && (
            <Step title="Connect a program" text="A web shop or a till needs an API key of its own.">
              <ButtonLink variant="default" to="/api-keys">
                Create an API key
              </ButtonLink>
            </Step>
          )}
        </div>
      )}
    </Stack>
  )
}

function Step({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <Card withBorder padding="lg">
      <Stack gap="sm" align="flex-start">
        <Title order={3} size="h5">
          {title}
        </Title>
        <Text size="sm">{text}</Text>
        {children}
      </Stack>
    </Card>
  )
}
