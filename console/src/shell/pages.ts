// The pages that the sidebar, the bar of a phone and its page "More" link to.
import type { ComponentType } from 'react'
import { useRouterState } from '@tanstack/react-router'
import {
  HealthIcon,
  HoldsIcon,
  KeyIcon,
  OverviewIcon,
  PetsIcon,
  SettingsIcon,
  TillIcon,
  WebhooksIcon,
} from '../layout/icons.tsx'
import { useScopes } from '../session/session.ts'

export interface PageLink {
  to: '/' | '/holds' | '/till' | '/overview' | '/health' | '/api-keys' | '/webhooks' | '/settings'
  label: string
  Icon: ComponentType<{ size?: number }>
  /** Only keys with this scope see the link. */
  scope: string
  /** In the bar of a phone. The others are on the page "More". */
  isInBar?: boolean
}

const SHOP: PageLink[] = [
  { to: '/', label: 'Pets', Icon: PetsIcon, scope: 'pets:read', isInBar: true },
  { to: '/holds', label: 'Holds', Icon: HoldsIcon, scope: 'orders:read', isInBar: true },
  { to: '/till', label: 'Till', Icon: TillIcon, scope: 'orders:read', isInBar: true },
  { to: '/overview', label: 'Overview', Icon: OverviewIcon, scope: 'pets:read' },
]

const ADMINISTRATION: PageLink[] = [
  { to: '/health', label: 'Health', Icon: HealthIcon, scope: 'admin' },
  { to: '/api-keys', label: 'Keys and sessions', Icon: KeyIcon, scope: 'admin' },
  { to: '/webhooks', label: 'Webhooks', Icon: WebhooksIcon, scope: 'webhooks:read' },
  { to: '/settings', label: 'Settings', Icon: SettingsIcon, scope: 'admin' },
]

/** The pages that the key of the person allows. */
export function useAllowedPages(): Record<'shop' | 'administration', PageLink[]> {
  const scopes = useScopes()
  const allowed = (pages: PageLink[]) => pages.filter(({ scope }) => scopes.has(scope))
  return { shop: allowed(SHOP), administration: allowed(ADMINISTRATION) }
}

/** Says of a path whether it is the page that is shown, or the one to which that page belongs. */
export function useIsCurrent(): (to: string) => boolean {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  return (to) =>
    to === '/' ? path === '/' || path.startsWith('/pets/') : path === to || path.startsWith(`${to}/`)
}
