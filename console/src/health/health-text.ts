// The health report in words: what each check says, and what the owner of the shop has to do.
import type { HealthCheck } from '@petstore/client'
import { counted } from '../layout/counted.ts'
import { DAY_MS, dateText } from '../layout/dates.ts'
import { clockText } from '../layout/hold-time.ts'
import { agoText } from '../layout/when-text.ts'

const NUMBER = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
const BYTE_UNITS = ['kB', 'MB', 'GB', 'TB'] as const

interface CheckText {
  label: string
  /** At the right of the label, if the check has a value. */
  value?: (check: HealthCheck, nowMs: number) => string | undefined
  /** Below the label, if the check is well. */
  about: string
  /** What is wrong, in a sentence without a full stop. */
  needs: (check: HealthCheck, nowMs: number) => string
  /** What to do then, or how it becomes known. */
  todo: string
  unknown?: string
}

const ago = ({ at }: HealthCheck, nowMs: number) => at && agoText(at, nowMs)
const since = ({ at }: HealthCheck, nowMs: number) => (at ? ` since ${clockText(at, nowMs)}` : '')

const TEXTS: Record<string, CheckText> = {
  backup: {
    label: 'Last backup',
    value: ago,
    about: '',
    needs: (check, nowMs) => `No backup was made${since(check, nowMs)}`,
    todo: 'Ask the operator to look at the timers of the backups, and to make one.',
    unknown: 'Nobody reports backups here. The operator does with “petstore report backup” after each one.',
  },
  secondPlace: {
    label: 'Second place, away from the shop',
    value: ago,
    about: '',
    needs: (check, nowMs) => `The backups were not copied to their second place${since(check, nowMs)}`,
    todo: 'A fire or a theft could take the shop and its backups. Ask the operator to look at the copy.',
    unknown:
      'Nobody reports a copy at another place. The operator does with “petstore report second-place” after each one.',
  },
  restore: {
    label: 'Restore proven',
    value: ago,
    about: 'A backup was restored aside, and everything in it was compared.',
    needs: ({ note }) =>
      note === undefined ? 'No backup was proven for days' : `The newest backup could not be proven: ${note}`,
    todo: 'A backup that cannot be restored is none. Ask the operator to read the log of the check.',
    unknown: 'No check has restored a backup yet. The operator installs its timer: petstore-restore-check.',
  },
  archiving: {
    label: 'Changes between two backups',
    about: 'Each change is copied to the backups as it happens.',
    needs: (check, nowMs) => `Changes do not reach the backups${since(check, nowMs)}`,
    todo: 'They also fill the disk. Ask the operator to look at the place of the backups.',
  },
  standby: {
    label: 'Second server',
    about: 'Each change is on a second server before it counts.',
    needs: () => 'The second server is missing, or does not have each change',
    todo: 'The shop works, but a failure could stop it or lose sales. Ask the operator to look at it.',
  },
  disk: {
    label: 'Disk',
    value: ({ usedBytes = 0, totalBytes = 0 }) => shareText(usedBytes, totalBytes),
    about: '',
    needs: ({ usedBytes = 0, totalBytes = 0 }) =>
      `The disk is full to ${shareText(usedBytes, totalBytes)}: ${bytesText(totalBytes - usedBytes)} are left`,
    todo: 'A full disk stops the shop. Ask the operator to make it larger.',
    unknown: 'Nobody reports the disk here, or not lately. The operator does with “petstore report disk”.',
  },
  certificate: {
    label: 'Certificate',
    value: ({ at }, nowMs) => at && daysText(at, nowMs),
    about: '',
    needs: ({ at = '', note = 'this address' }) => `The certificate of ${note} ends on ${dateText(at)}`,
    todo: 'Browsers then refuse to open the console. Ask the operator to look at its renewal.',
    unknown:
      'Nobody reports the certificate here, or not lately. The operator does with “petstore report certificate”.',
  },
  events: {
    label: 'Changes on all screens',
    about: 'They appear at once, and become events for other programs.',
    needs: (check, nowMs) => `Changes have not been sent to screens and programs${since(check, nowMs)}`,
    todo: 'Nothing is lost. Ask the operator to read the log of the service.',
  },
  holds: {
    label: 'Ends of holds',
    about: 'Pets become available when their hold ends.',
    needs: (check, nowMs) => `Pets whose hold has ended are still on hold${since(check, nowMs)}`,
    todo: 'Ask the operator to read the log of the service.',
  },
  delivery: {
    label: 'Sending to other programs',
    about: 'A process sends the messages.',
    needs: () => 'No process sends messages to other programs',
    todo: 'They wait, and nothing is lost. Ask the operator to start petstore deliver.',
  },
  webhooks: {
    label: 'Other programs',
    about: 'They get all messages.',
    needs: () => 'Another program does not take its messages',
    todo: 'They wait. Open the webhook to see why.',
  },
  apiKeys: {
    label: 'Keys of programs',
    value: ({ at }, nowMs) => at && daysText(at, nowMs),
    about: 'Until the next one in use ends.',
    needs: ({ at = '' }) => `A key that a program uses ends on ${dateText(at)}`,
    todo: 'The program then stops working. Replace the key: choose “Rotate” on the page of keys.',
  },
}

function textOf(name: string): CheckText {
  const label = name
  return TEXTS[name] ?? { label, about: '', needs: () => `${label} needs attention`, todo: '' }
}

export const needsText = (check: HealthCheck, nowMs: number) => textOf(check.name).needs(check, nowMs)
export const todoText = ({ name }: HealthCheck) => textOf(name).todo
export const labelOf = ({ name }: HealthCheck) => textOf(name).label

/** At the right of the label. */
export function valueText(check: HealthCheck, nowMs: number): string {
  if (check.state === 'unknown') return 'Unknown'
  const { value } = textOf(check.name)
  return value?.(check, nowMs) ?? (check.state === 'ok' ? 'Works' : 'Needs you')
}

/** Below the label: what was reported, or how it becomes known. */
export function detailText(check: HealthCheck, nowMs: number): string {
  const { about, unknown = '' } = textOf(check.name)
  const { state, note, at, usedBytes, totalBytes, reportedAt, name } = check
  if (state === 'unknown')
    return reportedAt === undefined ? unknown : `${unknown} Last report: ${agoText(reportedAt, nowMs)}.`
  if (name === 'restore') return about
  return [
    about,
    usedBytes !== undefined &&
      totalBytes !== undefined &&
      `${bytesText(usedBytes)} of ${bytesText(totalBytes)} used`,
    note,
    name === 'certificate' && at !== undefined && `ends on ${dateText(at)}`,
  ]
    .filter((part) => part)
    .join(' · ')
}

/** The first line of the page. */
export function verdictText(checks: readonly HealthCheck[]): string {
  const countOf = (state: string) => checks.filter((check) => check.state === state).length
  const [attention, unknown] = [countOf('attention'), countOf('unknown')]
  const needs = attention === 1 ? 'One thing needs you.' : `${attention} things need you.`
  const unknownText = `${counted(unknown, 'thing')} ${unknown === 1 ? 'is' : 'are'} unknown.`
  return ['The shop works.', attention > 0 && needs, unknown > 0 && unknownText].filter(Boolean).join(' ')
}

/** Such as "24.4 GB". */
export function bytesText(bytes: number): string {
  const power = Math.min(BYTE_UNITS.length, Math.max(1, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return `${NUMBER.format(bytes / 1_000 ** power)} ${BYTE_UNITS[power - 1]}`
}

function shareText(part: number, all: number): string {
  return `${Math.round((100 * part) / Math.max(1, all))} %`
}

function daysText(time: string, nowMs: number): string {
  const days = Math.floor((Date.parse(time) - nowMs) / DAY_MS)
  return days < 0 ? 'Ended' : counted(days, 'day')
}
