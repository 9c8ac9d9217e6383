// The last closed days, with what was counted and what was expected.
import { Text } from '@mantine/core'
import type { Closing } from '@petstore/client'
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { Dialog } from '../layout/dialog.tsx'
import { ErrorMessage } from '../layout/error-message.tsx'
import { Loading } from '../layout/loading.tsx'
import { amountText, isZero } from '../profile/price.ts'
import { useStore } from '../session/session.ts'
import { shopDateTime } from './entry-text.ts'
import { closingsQuery } from './queries.ts'
import { dayAndMonth } from './range.ts'
import { Sum } from './sum.tsx'

interface Props {
  timeZone: string
  onClose: () => void
}

export function ClosingsDialog({ timeZone, onClose }: Props) {
  const { data: closings, error, refetch } = useQuery(closingsQuery(useStore()))
  return (
    <Dialog title="Closed days" onClose={onClose} isWide>
      {error !== null && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {closings === undefined && error === null && <Loading what="the closed days" height={200} />}
      {closings?.length === 0 && <Text c="dimmed">No day is closed yet.</Text>}
      {closings && closings.length > 0 && (
        <ul className="plain-list closings">
          {closings.map((closing) => (
            <ClosingRow key={closing.day} closing={closing} timeZone={timeZone} onClose={onClose} />
          ))}
        </ul>
      )}
    </Dialog>
  )
}

function ClosingRow({ closing, timeZone, onClose }: Props & { closing: Closing }) {
  const { day, at, closedBy, currency, expected, counted, difference, kept, note } = closing
  const text = (amount: string) => amountText({ currency, amount })
  return (
    <li>
      <div>
        <AnchorLink to="/till" search={{ from: day, to: day }} fw={600} onClick={onClose}>
          {dayAndMonth(day, true)}
        </AnchorLink>
        <span className="second">
          {closedBy && `${closedBy}, `}
          {shopDateTime(at, timeZone)}
        </span>
        {note && <span className="second closing-reason">{note}</span>}
      </div>
      <div className="amount">
        {text(counted)}
        <span className="second">
          {isZero(difference) ? (
            'exact'
          ) : (
            <>
              expected {text(expected)}, <Sum amount={{ currency, amount: difference }} />
            </>
          )}
        </span>
        <span className="second">{text(kept)} kept</span>
      </div>
    </li>
  )
}
