// The facts of a pet on its page.
import { Text } from '@mantine/core'
import type { PetProfile } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { dayOf } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { Section } from '../layout/section.tsx'
import { FACT_NAMES, FACTS } from '../profile/facts.ts'
import { profileQuery } from '../profile/queries.ts'
import { useScopes, useStore } from '../session/session.ts'

export function PetFacts({ petId }: { petId: string }) {
  return (
    <>
      <Section title="Facts">
        <Facts petId={petId} />
      </Section>
      <LongFacts petId={petId} />
    </>
  )
}

/** Each text that is too long for a line has a section of its own. */
function LongFacts({ petId }: { petId: string }) {
  const { data: profile } = useQuery(profileQuery(useStore(), petId))
  return FACT_NAMES.map((name) => {
    const { label, isLong = false } = FACTS[name]
    return (
      isLong &&
      profile?.[name] !== undefined && (
        <Section key={name} title={label}>
          <Text className="long-fact">{profile[name]}</Text>
        </Section>
      )
    )
  })
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

/** The breed is below the name of the pet. */
function factsOf(profile: PetProfile): [string, string][] {
  const today = dayOf(Date.now())
  return FACT_NAMES.flatMap((name) => {
    const [value, { label, text, isLong = false }] = [profile[name], FACTS[name]]
    return value === undefined || isLong || name === 'breed' ? [] : [[label, text?.(value, today) ?? value]]
  })
}
