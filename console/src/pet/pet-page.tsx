import { Title } from '@mantine/core'

export function PetPage() {
  return (
    <Title order={1} size="h2">
      PetPage
    </Title>
  )
}
