// Which receipts say "Copy": all except the one that the dialog of the sale opens.

export interface ReceiptSearch {
  /** Set by the dialog of the sale. The page removes it from its URL, so that the same page says "Copy" when it is opened again. */
  original?: boolean | undefined
}

export function readCopy({ original }: Record<string, unknown>): ReceiptSearch {
  return String(original) === 'true' ? { original: true } : {}
}
