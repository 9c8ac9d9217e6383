// The status of a pet in a few tinted words: of a pet on hold, until when.
import type { PetStatus } from '@petstore/client'
import { useTimedText } from '../layout/clock.ts'
import { clockText, isEnding, timeLeftText } from '../layout/hold-time.ts'
import { HoldsIcon } from '../layout/icons.tsx'
import { Tint } from '../layout/tints.tsx'
import type { Tone } from '../layout/tones.ts'

const TEXTS: Record<PetStatus, string> = { available: 'Available', pending: 'On hold', sold: 'Sold' }
const TONES: Record<PetStatus, Tone> = { available: 'ok', pending: 'wait', sold: 'done' }

interface Props {
  status: PetStatus
  /** The end of the hold, if the pet has one. */
  expiresAt?: string | undefined
}

export function StatusTint({ status, expiresAt }: Props) {
  if (status === 'pending' && expiresAt !== undefined) return <HoldTint expiresAt={expiresAt} />
  return <Tint tone={TONES[status]}>{TEXTS[status]}</Tint>
}

/** Such as "until 18:30"; near the end, how much time is left. */
export function HoldTint({ expiresAt }: { expiresAt: string }) {
  const isUrgent = useTimedText((now) => isEnding(expiresAt, now))
  const text = useTimedText((now) =>
    isEnding(expiresAt, now) ? timeLeftText(expiresAt, now) : `until ${clockText(expiresAt, now)}`,
  )
  return (
    <time
      className="tint"
      dateTime={expiresAt}
      data-tone={isUrgent ? 'bad' : 'wait'}
      title={`On hold until ${clockText(expiresAt, Date.now())}`}
    >
      <HoldsIcon size={13} />
      {text}
    </time>
  )
}

export function statusText(status: PetStatus): string {
  return TEXTS[status]
}
