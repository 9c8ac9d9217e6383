// Grey bars in the place of data that is not there yet.
import { Skeleton, Stack } from '@mantine/core'

interface Props {
  /** Completes the words “Loading …”, for a screen reader. */
  what: string
  height: number
  rows?: number
}

export function Loading({ what, height, rows = 1 }: Props) {
  return (
    <Stack gap={1} role="status" aria-busy="true" aria-label={`Loading ${what}`}>
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={height} radius="sm" />
      ))}
    </Stack>
  )
}
