// The till: what came in and went out on a day of the shop, by the ledger and nothing else.
import './till.css'
import { Alert, Button, Menu } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { download } from '../layout/download.ts'
import { ErrorMessage } from '../layout/error-message.tsx'
import { BanknoteIcon, DownloadIcon, LockIcon } from '../layout/icons.tsx'
import { Loading } from '../layout/loading.tsx'
import { MenuButton } from '../layout/menu-button.tsx'
import { useNotify } from '../layout/notify.tsx'
import { Page } from '../layout/page.tsx'
import { categoriesQuery, categoryName } from '../pets/queries.ts'
import { useScopes, useStore } from '../session/session.ts'
import { Breakdown } from './breakdown.tsx'
import { CashDialog } from './cash-dialog.tsx'
import { CloseDialog } from './close-dialog.tsx'
import { ClosingsDialog } from './closings-dialog.tsx'
import { DayField } from './day-field.tsx'
import type { TillTotals } from './day-totals.ts'
import { EntryList } from './entry-list.tsx'
import { NetTotals } from './net-totals.tsx'
import { readEntriesCsv, tillTotalsQuery } from './queries.ts'
import type { DayRange } from './range.ts'
import { useCanClose } from './use-can-close.ts'

export function TillPage() {
  const canRead = useScopes().has('orders:read')
  return canRead ? (
    <Till />
  ) : (
    <Page title="Till">
      <Alert color="gray" title="Your key does not allow this page">
        Ask your administrator for a key with the permission orders:read.
      </Alert>
    </Page>
  )
}

type Shown = 'cash' | 'close' | 'closings'

function Till() {
  const search = useSearch({ from: '/till' })
  const navigate = useNavigate({ from: '/till' })
  const { data: totals, error, refetch } = useQuery(tillTotalsQuery(useStore(), search))
  const [shown, setShown] = useState<Shown>()
  if (totals === undefined) {
    return (
      <Page title="Till">
        {error === null ? (
          <Loading what="the till" height={96} rows={4} />
        ) : (
          <ErrorMessage error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    )
  }
  const range = { from: search.from ?? totals.from, to: search.to ?? totals.to }
  const days = (
    <DayField
      range={range}
      today={totals.today}
      onChange={(chosen) => void navigate({ search: chosen, replace: true })}
    />
  )
  const close = () => setShown(undefined)
  return (
    <Page
      title="Till"
      beside={days}
      actions={<Actions totals={totals} range={range} onOpen={setShown} />}
      isFlush
    >
      {error !== null && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      <NetTotals totals={totals} range={range} onCloseDay={() => setShown('close')} />
      <Breakdown totals={totals} />
      <EntryList range={range} timeZone={totals.timeZone} />
      {shown === 'cash' && <CashDialog onClose={close} />}
      {shown === 'close' && <CloseDialog day={range.to} totals={totals} onClose={close} />}
      {shown === 'closings' && <ClosingsDialog timeZone={totals.timeZone} onClose={close} />}
    </Page>
  )
}

interface ActionsProps {
  totals: TillTotals
  range: DayRange
  onOpen: (shown: Shown) => void
}

function Actions({ totals, range, onOpen }: ActionsProps) {
  const canWrite = useScopes().has('till:write')
  const canClose = useCanClose(range, totals)
  const csv = useCsv(range, totals.timeZone)
  return (
    <>
      {canWrite && (
        <Button
          variant="subtle"
          className="only-desk"
          leftSection={<BanknoteIcon size={16} />}
          onClick={() => onOpen('cash')}
        >
          Cash in or out
        </Button>
      )}
      <Button
        variant="subtle"
        className="only-desk"
        leftSection={<DownloadIcon size={16} />}
        loading={csv.isPending}
        onClick={() => csv.mutate()}
      >
        CSV
      </Button>
      <Button
        variant="subtle"
        className="only-desk"
        leftSection={<LockIcon size={16} />}
        onClick={() => onOpen('closings')}
      >
        Closed days
      </Button>
      {canClose && (
        <Button className="only-desk" onClick={() => onOpen('close')}>
          Close the day
        </Button>
      )}
      <div className="only-phone">
        <MenuButton label="More for the till">
          {canWrite && <Menu.Item onClick={() => onOpen('cash')}>Cash in or out</Menu.Item>}
          <Menu.Item onClick={() => csv.mutate()}>Export as CSV</Menu.Item>
          <Menu.Item onClick={() => onOpen('closings')}>Closed days</Menu.Item>
        </MenuButton>
      </div>
    </>
  )
}

function useCsv(range: DayRange, timeZone: string) {
  const store = useStore()
  const notify = useNotify()
  const { data: categories } = useQuery(categoriesQuery(store))
  return useMutation({
    mutationFn: () =>
      readEntriesCsv(store, range, { nameOf: (id) => categoryName(categories, id), timeZone }),
    onSuccess: (csv) => {
      download(csv, fileName(range))
      notify.done(`Your browser has saved ${fileName(range)}.`)
    },
    onError: (error) => notify.error(error),
  })
}

function fileName({ from, to }: DayRange): string {
  return from === to ? `till-${from}.csv` : `till-${from}-to-${to}.csv`
}
