// The facts of a pet on its page.
import { Card, Text, Title } from '@mantine/core'
import type { PetProfile } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { dayOf } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { FACT_NAMES, FACTS } from '../profile/facts.ts'
import { profileQuery } from '../profile/queries.ts'
import { useScopes, useStore } from '../session/session.ts'

export function PetFacts({ petId }: { petId: string }) {
  return (
    <Card withBorder component="section" aria-labelledby="facts">
      <Title order={2} size="h5" id="facts" mb="sm">
        Facts
      </Title>
      <Facts petId={petId} />
    </Card>
  )
}

function Facts({ petId }: { petId: string }) {
  const { data: profile, error, refetch } = useQuery(profileQuery(useStore(), petId))
  const canWrite = useScopes().has('pets:write')
  if (profile === undefined)
    return error === null ? (
      <Loading what="the facts" height={24} />
    ) : (
      <ErrorMessage error={error} onRetry={() => void refetch()} />
    )
  const facts = factsOf(profile)
  if (facts.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No facts yet. {canWrite && 'To add breed, sex, age or chip number, choose Edit.'}
      </Text>
    )
  }
  return (
    <dl className="fact-list">
      {facts.map(([label, text]) => [<dt key={label}>{label}</dt>, <dd key={`${label}-text`}>{text}</dd>])}
    </dl>
  )
}

function factsOf(profile: PetProfile): [string, string][] {
  const today = dayOf(Date.now())
  return FACT_NAMES.flatMap((name) => {
    const [value, { label, text }] = [profile[name], FACTS[name]]
    return value === undefined ? [] : [[label, text?.(value, today) ?? value]]
  })
}
