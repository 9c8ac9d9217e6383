// The frame of every page: navigation, banners, and the sign-in page while there is no session.
import { AppShell, Burger, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet } from '@tanstack/react-router'
import { LiveFeed } from '../live/live-feed.tsx'
import { SellingDialogHost } from '../selling/selling-dialog-host.tsx'
import { useSession } from '../session/session.ts'
import { SignInPage } from '../sign-in/sign-in-page.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { Logo } from '../layout/logo.tsx'
import { Navigation } from './navigation.tsx'
import { Shortcuts } from './shortcuts.tsx'

export function Shell() {
  const { session } = useSession()
  const [isMenuOpen, menu] = useDisclosure()
  if (session === undefined) return <SignInPage />
  return (
    <AppShell
      // Another session starts with an empty state.
      key={session.id}
      header={{ height: { base: 56, sm: 0 } }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="md" justify="space-between">
          <Logo />
          <Burger opened={isMenuOpen} onClick={menu.toggle} aria-label="Menu" aria-expanded={isMenuOpen} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="md">
        <Navigation onNavigate={menu.close} />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <LiveFeed>
          <ConnectionBanner />
          <Outlet />
          <SellingDialogHost />
        </LiveFeed>
        <Shortcuts />
      </AppShell.Main>
    </AppShell>
  )
}
