// Whether a sale opens its receipt. Each browser remembers the last choice.

const STORAGE_NAME = 'petstore-opens-receipt'

export function readReceiptChoice(): boolean {
  return localStorage.getItem(STORAGE_NAME) === 'yes'
}

export function rememberReceiptChoice(isWanted: boolean): void {
  localStorage.setItem(STORAGE_NAME, isWanted ? 'yes' : 'no')
}
