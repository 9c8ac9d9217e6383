// The till: the entries of the ledger, their totals, and the closings of days. orders.ts has what changes the money of an order.
import { type CallOptions, type OnceOptions, randomId, type Send } from './call.ts'
import { idText } from './ids.ts'
import type {
  CashMovement,
  Closing,
  Entry,
  GetTotalsQuery,
  IdInput,
  ListClosingsQuery,
  ListEntriesQuery,
  NewClosing,
  Totals,
} from './interface.ts'
import { listOf } from './lists.ts'

export type Till = ReturnType<typeof tillOf>

export function tillOf(send: Send) {
  return {
    /** Lists entries of the ledger by day of the shop, the newest first. */
    entries: (query?: ListEntriesQuery, options?: CallOptions) =>
      listOf(send, 'listEntries', () => '/store/entries', query, options),

    /** Sums of the entries of some days of the shop. Default: of today. */
    totals: async (query: GetTotalsQuery = {}, options?: CallOptions): Promise<Totals> => {
      const path = '/store/totals'
      return (await send({ operation: 'getTotals', method: 'GET', path, query, idempotent: true }, options))
        .value
    },

    /** Takes back the last entry of an order, within minutes, as if it had not been. Idempotent: returns the same void again. */
    void: async (entryId: IdInput, options?: CallOptions): Promise<Entry> => {
      const path = `/store/entries/${idText(entryId)}/void` as const
      return (await send({ operation: 'voidEntry', method: 'POST', path, idempotent: true }, options)).value
    },

    /** Records cash that is put into the drawer or taken out without a sale. All attempts use one idempotency key. */
    recordCash: async (movement: CashMovement, options: OnceOptions = {}): Promise<Entry> => {
      const headers = { 'idempotency-key': options.idempotencyKey ?? randomId() }
      const path = '/store/cash'
      const call = { operation: 'recordCash', method: 'POST', path, body: movement, headers } as const
      return (await send({ ...call, idempotent: true }, options)).value
    },

    /** Closes a day of the shop, and the days before, with the counted cash. Idempotent with the same values. */
    closeDay: async (closing: NewClosing, options?: CallOptions): Promise<Closing> => {
      const path = '/store/day-closings'
      const call = { operation: 'closeDay', method: 'POST', path, body: closing, idempotent: true } as const
      return (await send(call, options)).value
    },

    /** Lists closed days, the newest first. */
    closings: (query?: ListClosingsQuery, options?: CallOptions) =>
      listOf(send, 'listClosings', () => '/store/day-closings', query, options),
  }
}
