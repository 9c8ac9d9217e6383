// Says that the browser is offline or that the service does not respond, so that nobody trusts stale data.
import { useNetwork } from '@mantine/hooks'
import { useLiveState } from '../live/live-feed.tsx'
import { LineNote } from '../layout/tints.tsx'

export function ConnectionState() {
  const { online } = useNetwork()
  const state = useLiveState()
  if (online && state !== 'reconnecting') return null
  return (
    <div className="connection-state" role="status">
      <LineNote tone="wait">
        <b>{online ? 'No connection' : 'You are offline'}</b>{' '}
        {online
          ? 'The page may be out of date. Trying to reconnect …'
          : 'The page may be out of date, and changes cannot be saved. Check your network.'}
      </LineNote>
    </div>
  )
}
