import { Stack, Text, Title } from '@mantine/core'
import { AnchorLink } from '../layout/anchor-link.tsx'

export function UnknownPage() {
  return (
    <Stack align="flex-start">
      <Title order={1} size="h2">
        This page does not exist
      </Title>
      <Text>The address may be wrong, or the page has moved.</Text>
      <AnchorLink to="/">Show all pets</AnchorLink>
    </Stack>
  )
}
