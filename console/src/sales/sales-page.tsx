// The sales of some days: who sold which pet to whom, when and for how much, with the totals.
import './sales.css'
import { Alert, Button, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useTimedText } from '../layout/clock.ts'
import { dayOf } from '../layout/dates.ts'
import { download } from '../layout/download.ts'
import { DownloadIcon } from '../layout/icons.tsx'
import { useNotify } from '../layout/notify.tsx'
import { Page } from '../layout/page.tsx'
import { categoriesQuery } from '../pets/queries.ts'
import { useScopes, useStore } from '../session/session.ts'
import { readSalesCsv } from './queries.ts'
import { type DayRange, rangeOf } from './range.ts'
import { RangeField } from './range-field.tsx'
import { SalesList } from './sales-list.tsx'
import { SalesTotals } from './sales-totals.tsx'

export function SalesPage() {
  const canRead = useScopes().has('orders:read')
  return canRead ? (
    <Sales />
  ) : (
    <Page title="Sales">
      <NotAllowed />
    </Page>
  )
}

function Sales() {
  const search = useSearch({ from: '/sales' })
  const navigate = useNavigate({ from: '/sales' })
  const today = useTimedText((now) => dayOf(now))
  const range = rangeOf(search, today)
  return (
    <Page title="Sales" actions={<ExportButton range={range} />} isFlush>
      <div className="page-body">
        <RangeField
          range={range}
          today={today}
          onChange={(days) => void navigate({ search: days, replace: true })}
        />
        <SalesTotals range={range} today={today} />
      </div>
      <SalesList range={range} today={today} />
    </Page>
  )
}

function ExportButton({ range }: { range: DayRange }) {
  const store = useStore()
  const notify = useNotify()
  const { data: categories } = useQuery(categoriesQuery(store))
  const { mutate, isPending } = useMutation({
    mutationFn: () => readSalesCsv(store, range, categories),
    onSuccess: (csv) => {
      download(csv, fileName(range))
      notify.done(`Your browser has saved ${fileName(range)}.`)
    },
    onError: (error) => notify.error(error),
  })
  return (
    <Button
      variant="subtle"
      leftSection={<DownloadIcon size={16} />}
      loading={isPending}
      onClick={() => mutate()}
    >
      Export as CSV
    </Button>
  )
}

function fileName({ from, to }: DayRange): string {
  return from === to ? `sales-${from}.csv` : `sales-${from}-to-${to}.csv`
}

function NotAllowed() {
  return (
    <Alert color="gray" title="Your key does not allow this page">
      <Text size="sm">Ask your administrator for a key with the permission orders:read.</Text>
    </Alert>
  )
}
