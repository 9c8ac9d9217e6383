// Saves a text as a file of the person.

/** Browsers read the file after the click. */
const DOWNLOADED_AFTER_MS = 60_000

export function download(content: string | Blob, name: string): void {
  const url = URL.createObjectURL(
    typeof content === 'string' ? new Blob([content], { type: 'text/csv' }) : content,
  )
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), DOWNLOADED_AFTER_MS)
}
