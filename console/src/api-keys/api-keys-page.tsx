import { Title } from '@mantine/core'

export function ApiKeysPage() {
  return (
    <Title order={1} size="h2">
      ApiKeysPage
    </Title>
  )
}
