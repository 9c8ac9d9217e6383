// Imports a file, remembers how far it came, and continues there.
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useRefresh } from '../pets/queries.ts'
import { useSession, useStore } from '../session/session.ts'
import { findImport, findNamesake, rememberImport } from './past-imports.ts'
import type { ReadFile } from './read-file.ts'
import { NOTHING_DONE, type Progress, runImport } from './run-import.ts'

export function useImport(file: ReadFile) {
  const store = useStore()
  const apiKeyId = useSession().session?.own.id ?? ''
  const refresh = useRefresh()
  const [past, setPast] = useState(() => findImport(localStorage, file.hash))
  const [namesake] = useState(() => findNamesake(localStorage, file))
  const [progress, setProgress] = useState<Progress>(past ?? NOTHING_DONE)
  const [leaving] = useState(() => new AbortController())

  const { mutate, isPending, error } = useMutation({
    mutationFn: (from: Progress) =>
      runImport(file, from, {
        hash: file.hash,
        send: (pets, idempotencyKey) =>
          store.pets.changeMany(
            pets.map((create) => ({ create })),
            { idempotencyKey, signal: leaving.signal },
          ),
        onProgress: (done) => {
          setProgress(done)
          const { name, hash } = file
          rememberImport(localStorage, { ...done, name, hash, apiKeyId, at: new Date().toISOString() })
        },
      }),
    onSettled: () => void refresh(),
  })

  useWarning(isPending)
  useEffect(() => () => leaving.abort(), [leaving])

  function start(from: Progress): void {
    setPast(undefined)
    setProgress(from)
    mutate(from)
  }

  return {
    /** The import of this file before this page was opened. */
    past: past && { ...past, isOtherKey: past.apiKeyId !== apiKeyId },
    /** The import of another file with this name. */
    namesake,
    progress,
    isRunning: isPending,
    error,
    start: () => start(progress),
    startAgain: () => start({ ...NOTHING_DONE, run: progress.run + 1 }),
  }
}

/** The browser asks before it closes the page during an import. */
function useWarning(isRunning: boolean): void {
  useEffect(() => {
    if (!isRunning) return undefined
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isRunning])
}
