// The frame of every page: navigation, the state of the connection, and the sign-in page while there is no session.
import { AppShell } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useMatch } from '@tanstack/react-router'
import { Fragment } from 'react'
import { LiveFeed } from '../live/live-feed.tsx'
import { SellingDialogHost } from '../selling/selling-dialog-host.tsx'
import { useSession } from '../session/session.ts'
import { useFollowedShop } from './use-followed-shop.ts'
import { SignInPage } from '../sign-in/sign-in-page.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { ConnectionState } from './connection-state.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { Sidebar } from './sidebar.tsx'

export function Shell() {
  const { session } = useSession()
  const [hasShortcutList, list] = useDisclosure()
  const isReceipt = useMatch({ from: '/receipt/$orderId', shouldThrow: false }) !== undefined
  if (session === undefined) return <SignInPage />
  if (isReceipt) return <Outlet />
  return (
    <AppShell
      // Another session starts with an empty state.
      key={session.id}
      transitionDuration={0}
      navbar={{ width: { base: 0, sm: 64, lg: 232 }, breakpoint: 'sm', collapsed: { mobile: true } }}
      footer={{ height: { base: 'calc(var(--bar) + env(safe-area-inset-bottom))', sm: 0 } }}
    >
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <AppShell.Navbar visibleFrom="sm" className="sidebar">
        <Sidebar onShowShortcuts={list.open} />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <LiveFeed>
          <ConnectionState />
          <ShopPages />
        </LiveFeed>
        <Shortcuts isOpen={hasShortcutList} onOpen={list.open} onClose={list.close} />
      </AppShell.Main>
      <AppShell.Footer hiddenFrom="sm">
        <BottomBar />
      </AppShell.Footer>
    </AppShell>
  )
}

/** A change of the currency or the time zone draws them again. */
function ShopPages() {
  const shop = useFollowedShop()
  // Its form follows the settings by itself, and keeps what a person has entered.
  const isSettings = useMatch({ from: '/settings', shouldThrow: false }) !== undefined
  return (
    <Fragment key={isSettings ? 'settings' : shop}>
      <Outlet />
      <SellingDialogHost />
    </Fragment>
  )
}
