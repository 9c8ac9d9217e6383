// The current time, for texts such as "3 minutes ago". The page renders again while it is open.
import { useEffect, useState } from 'react'

const UPDATED_EVERY_MS = 15_000

export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), UPDATED_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}
