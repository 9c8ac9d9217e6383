// Why a file that a user has named cannot be read.

/** A message for the user. `error` is what Node reports. */
export function fileFault(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return `There is no file ${path}.`
  if (code === 'EISDIR') return `${path} is not a file.`
  return `${path} cannot be read (${code}). Check its permissions.`
}
