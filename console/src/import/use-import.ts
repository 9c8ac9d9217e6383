// Imports a file, remembers how far it came, and continues there. Whoever signs in under another name decides first whether
// the rows that got no response were added.
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useRefresh } from '../pets/queries.ts'
import { KEYS } from '../session/query-keys.ts'
import { useSession, useStore } from '../session/session.ts'
import { areAdded } from './already-added.ts'
import { findImport, findNamesake, rememberImport } from './past-imports.ts'
import type { ReadFile } from './read-file.ts'
import { decided, isDoubtful, NOTHING_DONE, type Progress, runImport } from './run-import.ts'

export function useImport(file: ReadFile) {
  const store = useStore()
  const actorId = useSession().session?.own.actorId ?? ''
  const refresh = useRefresh()
  const [past, setPast] = useState(() => findImport(localStorage, file.hash))
  const [namesake] = useState(() => findNamesake(localStorage, file))
  const [progress, setProgress] = useState<Progress>(past ?? NOTHING_DONE)
  const [leaving] = useState(() => new AbortController())

  const isFirst = past === undefined && progress === NOTHING_DONE
  // Without a response, the import is possible: the person can be offline, or the key not be allowed to read pets.
  const { data: isAdded = false, isFetching: isChecking } = useQuery({
    queryKey: KEYS.importedFile(file.hash),
    queryFn: ({ signal }) => areAdded(store, file, signal),
    enabled: isFirst,
    staleTime: 0,
    retry: false,
  })

  const { mutate, isPending, error } = useMutation({
    mutationFn: (from: Progress) =>
      runImport(file, from, {
        hash: file.hash,
        actorId,
        now: () => new Date(),
        send: (pets, idempotencyKey) =>
          store.pets.changeMany(
            pets.map((create) => ({ create })),
            { idempotencyKey, signal: leaving.signal },
          ),
        onProgress: (done) => {
          setProgress(done)
          const { name, hash } = file
          rememberImport(localStorage, { ...done, name, hash, at: new Date().toISOString() })
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
    past,
    /** The import of another file with this name. */
    namesake,
    /** The pets of the file are in the list, but this browser has not imported it. */
    isAdded: isFirst && isAdded,
    isChecking: isFirst && isChecking,
    progress,
    isRunning: isPending,
    error,
    /** Whether the next rows may have been added already. The person must decide before the import goes on. */
    isDoubtful: !isPending && isDoubtful(progress, actorId, new Date()),
    decide: (wasAdded: boolean) => start(decided(file, progress, wasAdded)),
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
