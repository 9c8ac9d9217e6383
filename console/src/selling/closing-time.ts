// When the shop closes. Each browser remembers the time that was entered last.

const STORAGE_NAME = 'petstore-closing-time'
const DEFAULT = '18:00'

export function readClosingTime(): string {
  return localStorage.getItem(STORAGE_NAME) ?? DEFAULT
}

export function rememberClosingTime(time: string): void {
  localStorage.setItem(STORAGE_NAME, time)
}
