// The outcome of an attempt, as a colour and a word.
import { Tint } from '../layout/tints.tsx'
import type { Tone } from '../layout/tones.ts'
import { outcomeText } from './result-text.ts'

const TONES: Record<string, Tone> = { delivered: 'ok', given_up: 'bad', failed: 'wait' }

export function OutcomeBadge({ outcome }: { outcome: string }) {
  return <Tint tone={TONES[outcome] ?? 'done'}>{outcomeText(outcome)}</Tint>
}
