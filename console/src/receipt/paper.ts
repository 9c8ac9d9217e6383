// The paper of receipts: a roll of 80 mm, or A4. Each browser remembers the last one.

export const PAPERS = [
  { value: 'roll', label: '80 mm' },
  { value: 'a4', label: 'A4' },
]
const STORAGE_NAME = 'petstore-receipt-paper'

export function readPaper(): string {
  return localStorage.getItem(STORAGE_NAME) === 'a4' ? 'a4' : 'roll'
}

export function rememberPaper(paper: string): void {
  localStorage.setItem(STORAGE_NAME, paper)
}
