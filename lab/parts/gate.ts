// Pauses a load, so that the mirror of the event feed can be compared with a database that does not change.

export interface Gate {
  /** Runs the work. Waits first if the load is paused. */
  pass: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Holds back new work. Returns false if work from before is still in flight after the timeout. */
  pause: (timeoutMs: number) => Promise<boolean>
  resume: () => void
}

export function openGate(): Gate {
  let inFlight = 0
  let opened: PromiseWithResolvers<void> | undefined
  let emptied: PromiseWithResolvers<boolean> | undefined

  async function pass<Result>(work: () => Promise<Result>): Promise<Result> {
    if (opened !== undefined) {
      await opened.promise
      return pass(work)
    }
    inFlight += 1
    try {
      return await work()
    } finally {
      inFlight -= 1
      if (inFlight === 0) emptied?.resolve(true)
    }
  }

  return {
    pass,
    pause: (timeoutMs) => {
      opened ??= Promise.withResolvers()
      if (inFlight === 0) return Promise.resolve(true)
      const waiting = Promise.withResolvers<boolean>()
      emptied = waiting
      const timer = setTimeout(() => waiting.resolve(false), timeoutMs)
      return waiting.promise.finally(() => clearTimeout(timer))
    },
    resume: () => {
      opened?.resolve()
      opened = undefined
      emptied = undefined
    },
  }
}
