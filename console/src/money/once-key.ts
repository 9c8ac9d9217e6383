// The idempotency key of a request that a dialog sends. After a timeout, the same values have the same key, so that the money
// moves once. Other values are another request.
import { useRef } from 'react'
import { randomId } from '../session/session.ts'

export function useOnceKey(): (values: object) => string {
  const last = useRef({ values: '', key: '' })
  return (values) => {
    const text = JSON.stringify(values)
    if (last.current.values !== text) last.current = { values: text, key: randomId() }
    return last.current.key
  }
}
