// The outcome of an attempt, as a colour and a word.
import { outcomeText } from './result-text.ts'

export function OutcomeBadge({ outcome }: { outcome: string }) {
  return (
    <span className="status-badge outcome" data-outcome={outcome}>
      {outcomeText(outcome)}
    </span>
  )
}
