// The links to all pages, and the menu of the account. On a narrow screen, it shows only icons.
import { Menu, NavLink, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Logo } from '../layout/logo.tsx'
import { healthQuery } from '../health/queries.ts'
import { inventoryQuery } from '../pets/queries.ts'
import { useSession, useStore } from '../session/session.ts'
import { settingsQuery } from '../shop/queries.ts'
import { AccountItems } from './account-items.tsx'
import { initialsOf } from './initials.ts'
import { type PageLink, useAllowedPages, useIsCurrent } from './pages.ts'

export function Sidebar({ onShowShortcuts }: { onShowShortcuts: () => void }) {
  const { shop, administration } = useAllowedPages()
  const { data: settings } = useQuery(settingsQuery(useStore()))
  return (
    <>
      <Logo shop={settings?.name} />
      <nav aria-label="Pages" className="sidebar-pages">
        {shop.map((page) => (
          <SidebarLink key={page.to} page={page} />
        ))}
        {administration.length > 0 && (
          <div role="group" aria-label="Administration">
            <div className="sidebar-title" aria-hidden="true">
              Administration
            </div>
            {administration.map((page) => (
              <SidebarLink key={page.to} page={page} />
            ))}
          </div>
        )}
      </nav>
      <Account onShowShortcuts={onShowShortcuts} />
    </>
  )
}

function SidebarLink({ page: { to, label, Icon } }: { page: PageLink }) {
  const isCurrent = useIsCurrent()(to)
  return (
    <NavLink
      component={Link}
      to={to}
      label={label}
      title={label}
      leftSection={<Icon />}
      rightSection={<PageMark to={to} />}
      active={isCurrent}
      aria-current={isCurrent ? 'page' : undefined}
      className="sidebar-link"
    />
  )
}

/** What a link shows beside the name of its page. */
export function PageMark({ to }: Pick<PageLink, 'to'>) {
  if (to === '/holds') return <HoldCount />
  return to === '/health' && <HealthDot />
}

/** Shown if something needs the administrator. */
function HealthDot() {
  const { data: report } = useQuery(healthQuery(useStore()))
  const count = report?.checks.filter(({ state }) => state === 'attention').length ?? 0
  return count > 0 && <span className="dot" data-state="attention" role="img" aria-label="needs you" />
}

/** How many pets are on hold. */
export function HoldCount() {
  const { data: inventory } = useQuery(inventoryQuery(useStore()))
  const count = inventory?.pending ?? 0
  return (
    count > 0 && (
      <span className="sidebar-count" aria-hidden="true">
        {count > 99 ? '99+' : count}
      </span>
    )
  )
}

function Account({ onShowShortcuts }: { onShowShortcuts: () => void }) {
  const { name = '', kind } = useSession().session?.own ?? {}
  return (
    <Menu position="top-start" width={220} shadow="md">
      <Menu.Target>
        <UnstyledButton className="account" title={name}>
          <span className="avatar" aria-hidden="true">
            {initialsOf(name)}
          </span>
          <VisuallyHidden>Account of </VisuallyHidden>
          <span className="account-name">
            <span>{name}</span>
            <small>{kind === 'person' ? 'Signed in' : 'API key'}</small>
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <AccountItems onShowShortcuts={onShowShortcuts} />
      </Menu.Dropdown>
    </Menu>
  )
}
