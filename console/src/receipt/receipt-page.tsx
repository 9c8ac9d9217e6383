// The receipt of an order, to print or to save as PDF: without the frame of the other pages, and always on white.
import './receipt.css'
import { Button, Group, SegmentedControl } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { calendarDayText } from '../layout/dates.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { PrintIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { usePageTitle } from '../layout/page-title.ts'
import { sexText } from '../profile/facts.ts'
import { amountText } from '../profile/price.ts'
import { useStore } from '../session/session.ts'
import { shopDateTime } from '../till/entry-text.ts'
import { PAPERS, readPaper, rememberPaper } from './paper.ts'
import { type Receipt, receiptQuery } from './queries.ts'
import { type ReceiptLine, receiptText } from './receipt-lines.ts'

export function ReceiptPage() {
  const { orderId } = useParams({ from: '/receipt/$orderId' })
  const { data: receipt, error, refetch } = useQuery(receiptQuery(useStore(), orderId))
  const isCopy = useIsCopy()
  const [paper, setPaper] = useState(readPaper)
  usePageTitle(`Receipt ${orderId}`)
  return (
    <main className="receipt-page" id="content">
      <Group className="no-print receipt-tools">
        <AnchorLink to="/till">Till</AnchorLink>
        <SegmentedControl
          aria-label="Paper"
          data={PAPERS}
          value={paper}
          onChange={(chosen) => {
            setPaper(chosen)
            rememberPaper(chosen)
          }}
        />
        <Button leftSection={<PrintIcon size={16} />} disabled={!receipt} onClick={() => window.print()}>
          Print
        </Button>
      </Group>
      {error !== null && receipt === undefined && (
        <ErrorMessage error={error} onRetry={() => void refetch()} />
      )}
      {error === null && receipt === undefined && <Loading what="the receipt" height={400} />}
      {receipt && <Paper receipt={receipt} isCopy={isCopy} paper={paper} />}
    </main>
  )
}

/** The first opening by the dialog of the sale is the original. Opened again, also with the same address, it is a copy. */
function useIsCopy(): boolean {
  const { original } = useSearch({ from: '/receipt/$orderId' })
  const navigate = useNavigate({ from: '/receipt/$orderId' })
  const [isCopy] = useState(!original)
  useEffect(() => {
    if (original) void navigate({ search: {}, replace: true })
  }, [original, navigate])
  return isCopy
}

const MM_PER_PX = 25.4 / 96

interface PaperProps {
  receipt: Receipt
  isCopy: boolean
  paper: string
}

function Paper({ receipt, isCopy, paper }: PaperProps) {
  const { order, entries, shop, pet } = receipt
  const { ref, height } = useElementSize()
  const text = receiptText(order, entries)
  // The roll is cut after the receipt. A page of CSS needs a length.
  const page = paper === 'a4' ? 'A4 portrait' : `80mm ${Math.ceil(height * MM_PER_PX) + 14}mm`
  return (
    <article className="receipt" data-paper={paper}>
      <style>{`@media print { @page { size: ${page}; margin: 0 } }`}</style>
      <div ref={ref} className="receipt-content">
        <header>
          <div>
            {shop.name !== '' && <p className="shop">{shop.name}</p>}
            {shop.address !== '' && <address>{shop.address}</address>}
          </div>
          {isCopy && <span className="copy">COPY</span>}
        </header>
        <h1>{text?.title ?? `Receipt ${order.id}`}</h1>
        {text === undefined ? (
          <p>No money was paid for this order, or its sale was undone.</p>
        ) : (
          <>
            <dl className="data">
              <dt>Date</dt>
              <dd>{shopDateTime(text.at, shop.timeZone)}</dd>
              {text.by !== undefined && (
                <>
                  <dt>Sold by</dt>
                  <dd>{text.by}</dd>
                </>
              )}
              {isCopy && (
                <>
                  <dt>Printed again</dt>
                  <dd>{shopDateTime(new Date().toISOString(), shop.timeZone)}</dd>
                </>
              )}
            </dl>
            <table className="bill">
              <tbody>
                <tr>
                  <th scope="row">
                    {pet?.name ?? `Pet no. ${order.petId}`}
                    {receipt.profile?.breed && `, ${receipt.profile.breed}`}
                    <PetFacts receipt={receipt} />
                  </th>
                  <td>{text.price && amountText(text.price)}</td>
                </tr>
                {text.lines.map((line, index) => (
                  <Line key={index} line={line} />
                ))}
              </tbody>
            </table>
          </>
        )}
        <footer>
          {shop.receiptText !== '' && <p>{shop.receiptText}</p>}
          {!shop.isTaxInvoice && (
            <p>
              <b>This is not a tax invoice.</b>
            </p>
          )}
        </footer>
      </div>
    </article>
  )
}

function Line({ line: { label, amount, isSum } }: { line: ReceiptLine }) {
  return (
    <tr className={isSum ? 'sum' : undefined}>
      <th scope="row">{label}</th>
      <td>{amount && amountText(amount)}</td>
    </tr>
  )
}

/** What identifies the pet. */
function PetFacts({ receipt: { order, profile = { petId: order.petId } } }: { receipt: Receipt }) {
  const { sex, bornOn, chipNumber } = profile
  const facts = [
    `No. ${order.petId}`,
    sex !== undefined && sex !== 'unknown' && sexText(sex).toLowerCase(),
    bornOn !== undefined && `born ${calendarDayText(bornOn)}`,
  ]
  return (
    <>
      <small>{facts.filter(Boolean).join(', ')}</small>
      {chipNumber !== undefined && <small>Chip {chipNumber}</small>}
    </>
  )
}
