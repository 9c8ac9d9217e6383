// The currency and the time zone. While money is open, each is a text with the reason.
import { Select } from '@mantine/core'
import type { VersionedSettings } from '@petstore/client'
import type { ReactNode } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { counted } from '../layout/counted.ts'
import { LockIcon } from '../layout/icons.tsx'
import { LineNote } from '../layout/tints.tsx'
import { currencies, currencyText, timeZones, timeZoneText } from './choices.ts'
import type { Name, Values } from './draft.ts'

interface Props {
  settings: VersionedSettings
  values: Values
  faultOf: (name: Name) => string | undefined
  onChange: (change: Partial<Values>) => void
}

export function MoneyFields({ settings, values, faultOf, onChange }: Props) {
  const { openMoney = { holds: 0, deposits: 0, days: 0 } } = settings
  const isLocked = Object.values(openMoney).some((count) => count > 0)
  if (isLocked) {
    return (
      <>
        <dl className="locked">
          <Locked label="Currency">{currencyText(settings.currency)}</Locked>
          <Locked label="Time zone">{timeZoneText(settings.timeZone)}</Locked>
        </dl>
        <LockedNote {...openMoney} />
      </>
    )
  }
  return (
    <>
      <div className="locked">
        <Select
          label="Currency"
          data={currencies(settings.currency)}
          searchable
          allowDeselect={false}
          nothingFoundMessage="No such currency"
          value={values.currency}
          error={faultOf('currency')}
          onChange={(currency) => currency !== null && onChange({ currency })}
        />
        <Select
          label="Time zone"
          data={timeZones(settings.timeZone)}
          searchable
          allowDeselect={false}
          nothingFoundMessage="No such time zone"
          value={values.timeZone}
          error={faultOf('timeZone')}
          onChange={(timeZone) => timeZone !== null && onChange({ timeZone })}
        />
      </div>
      <LineNote>
        No money is open, so both can be changed. Prices that are stored keep their currency until someone
        enters a new one.
      </LineNote>
    </>
  )
}

function Locked({ label, children }: { label: string; children: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span>{children}</span>
        <LockIcon size={16} />
      </dd>
    </div>
  )
}

function LockedNote({ holds, deposits, days }: Required<VersionedSettings>['openMoney']) {
  const reasons = [
    holds > 0 && <ReasonLink to="/holds">{counted(holds, 'hold')}</ReasonLink>,
    deposits > 0 && <ReasonLink to="/holds">{counted(deposits, 'held deposit')}</ReasonLink>,
    days > 0 && <ReasonLink to="/till">{counted(days, 'day')} not closed</ReasonLink>,
  ].filter((reason) => reason !== false)
  return (
    <LineNote>
      Locked while money is open:{' '}
      {reasons.map((reason, index) => (
        <span key={index}>
          {index > 0 && (index === reasons.length - 1 ? ' and ' : ', ')}
          {reason}
        </span>
      ))}
      . A change would give sums in two currencies, or count a sale on another day. With none of the three,
      both can be changed.
    </LineNote>
  )
}

function ReasonLink({ to, children }: { to: '/holds' | '/till'; children: ReactNode }) {
  return (
    <AnchorLink to={to} underline="always" size="sm">
      {children}
    </AnchorLink>
  )
}
