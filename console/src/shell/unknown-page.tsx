import { Text } from '@mantine/core'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { Page } from '../layout/page.tsx'

export function UnknownPage() {
  return (
    <Page title="This page does not exist">
      <Text>The address may be wrong, or the page has moved.</Text>
      <AnchorLink to="/">Show all pets</AnchorLink>
    </Page>
  )
}
