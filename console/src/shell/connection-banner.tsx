// Says that the browser is offline or that the service does not respond, so that nobody trusts stale data.
import { Alert } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'
import { useLiveState } from '../live/live-feed.tsx'

export function ConnectionBanner() {
  const { online } = useNetwork()
  const state = useLiveState()
  if (online && state !== 'reconnecting') return null
  return (
    <Alert color="yellow" mb="md" role="status" title={online ? 'No connection' : 'You are offline'}>
      {online
        ? 'The page may be out of date. Trying to reconnect …'
        : 'The page may be out of date, and changes cannot be saved. Check your network.'}
    </Alert>
  )
}
