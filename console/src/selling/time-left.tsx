// How long a hold still lasts. It counts down.
import { Text } from '@mantine/core'
import { useTimedText } from '../layout/clock.ts'
import { clockText, isEnding, timeLeftText } from '../layout/hold-time.ts'

export function TimeLeft({ expiresAt, size = 'xs' }: { expiresAt: string; size?: string }) {
  const text = useTimedText((now) => timeLeftText(expiresAt, now))
  const isUrgent = useTimedText((now) => isEnding(expiresAt, now))
  return (
    <Text
      component="time"
      dateTime={expiresAt}
      title={`Until ${clockText(expiresAt, Date.now())}`}
      size={size}
      className="time-left"
      data-urgent={isUrgent || undefined}
    >
      {text}
    </Text>
  )
}
