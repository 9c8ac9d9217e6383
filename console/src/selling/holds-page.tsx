import { Title } from '@mantine/core'

export function HoldsPage() {
  return (
    <Title order={1} size="h2">
      HoldsPage
    </Title>
  )
}
