// The net of the shown days, and what it consists of.
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { counted } from '../layout/counted.ts'
import { LineNote, Tint } from '../layout/tints.tsx'
import { shopCurrency } from '../shop/shop.ts'
import { type Amount, amountText, isZero } from '../profile/price.ts'
import { useStore } from '../session/session.ts'
import { zeroOf } from './cash-count.ts'
import { kindLines, paidOf, salesOf, type SumLine, type TillTotals } from './day-totals.ts'
import { closingsQuery } from './queries.ts'
import { dayAndMonth, type DayRange, isClosed } from './range.ts'
import { Sum } from './sum.tsx'
import { useCanClose } from './use-can-close.ts'

interface Props {
  totals: TillTotals
  range: DayRange
  onCloseDay: () => void
}

export function NetTotals({ totals, range, onCloseDay }: Props) {
  const { sums, today } = totals
  const canClose = useCanClose(range, totals)
  const net =
    sums.length === 0 ? [{ currency: shopCurrency().code, amount: zeroOf(shopCurrency()) }] : sums.map(paidOf)
  return (
    <>
      <section className="net" aria-label="Totals">
        <div>
          <p className="net-label">
            {range.from === today && range.to === today ? 'Net taken today' : 'Net taken'}
            {isClosed(range, totals) && <Tint tone="ok">Closed</Tint>}
          </p>
          {net.map((amount) => (
            <p key={amount.currency} className="net-sum">
              {amountText(amount)}
            </p>
          ))}
        </div>
        <dl>
          {[...salesLines(totals), ...kindLines(totals.byKind), ...drawerLines(totals)].map(
            ({ label, amount }) => (
              <div key={`${label} ${amount.currency}`}>
                <dt>{label}</dt>
                <dd>
                  <Sum amount={amount} />
                </dd>
              </div>
            ),
          )}
        </dl>
        {canClose && (
          <Button className="only-phone" fullWidth mt="md" onClick={onCloseDay}>
            Close the day
          </Button>
        )}
      </section>
      <ClosingNote range={range} totals={totals} />
    </>
  )
}

function salesLines({ sums }: TillTotals): SumLine[] {
  return sums.map((sum) => ({ label: `${counted(sum.pets, 'sale')}, net`, amount: salesOf(sum) }))
}

/** What is not part of the net: cash without a sale, and what the shop holds. */
function drawerLines({ cash, deposits, drawer }: TillTotals): SumLine[] {
  const lines = (label: string, amounts: Amount[]) =>
    amounts.filter(({ amount }) => !isZero(amount)).map((amount) => ({ label, amount }))
  return [
    ...lines('Cash in and out', cash),
    ...lines('Deposits held', deposits),
    ...(drawer
      ? [{ label: 'In the drawer', amount: { currency: drawer.currency, amount: drawer.expected } }]
      : []),
  ]
}

/** How the last of the shown days was closed. */
function ClosingNote({ range, totals }: Pick<Props, 'range' | 'totals'>) {
  const hasClosing = isClosed(range, totals)
  const { data: closings } = useQuery({ ...closingsQuery(useStore()), enabled: hasClosing })
  // A closing also closes the days before it.
  const closing = closings?.findLast(({ day }) => day >= range.to)
  if (!hasClosing || closing === undefined) return null
  const { currency, counted: sum, difference, kept, note, closedBy, day } = closing
  const text = (amount: string) => amountText({ currency, amount })
  return (
    <div className="closing-note">
      <LineNote tone={isZero(difference) ? 'ok' : 'wait'}>
        Closed{day === range.to ? '' : ` with ${dayAndMonth(day, false)}`}
        {closedBy && ` by ${closedBy}`}: {text(sum)} counted, difference {text(difference)}, {text(kept)}{' '}
        kept.
        {note && ` ${note}`}
      </LineNote>
    </div>
  )
}
