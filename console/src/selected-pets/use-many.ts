// Runs an action with the selected pets: says what was done, offers to undo all of it at once, and keeps what failed.
import { useMutation } from '@tanstack/react-query'
import { useNotify } from '../layout/notify.tsx'
import { useRefresh } from '../pets/queries.ts'
import type { Outcome } from './change-many.ts'
import { unselectPets } from './selection-state.ts'

interface Options<Input, Result extends Outcome> {
  run: (input: Input) => Promise<Result>
  /** What was done, such as "3 pets are sold now." */
  doneText: (outcome: Result) => string
  canUndo?: boolean
  /** Every pet was changed. */
  onDone: () => void
}

export function useMany<Input, Result extends Outcome>({
  run,
  doneText,
  canUndo = true,
  onDone,
}: Options<Input, Result>) {
  const notify = useNotify()
  const refresh = useRefresh()
  return useMutation({
    mutationFn: run,
    onSuccess: (outcome) => {
      const { done, failed, undo } = outcome
      // Those that failed stay selected.
      unselectPets(done.map(({ id }) => id))
      const runUndo = () => undo().finally(() => void refresh())
      if (done.length > 0) notify.done(doneText(outcome), { undo: canUndo ? runUndo : undefined })
      if (failed.length === 0) onDone()
    },
    onSettled: () => void refresh(),
  })
}
