// Every page of the console with its path. The service serves the same paths: CONSOLE_PAGES in
// src/http/page-addresses.ts.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  parseSearchWith,
  stringifySearchWith,
} from '@tanstack/react-router'
import { Shell } from './shell/shell.tsx'
import { UnknownPage } from './shell/unknown-page.tsx'
import { readFilters } from './pets/filters.ts'
import { PetsPage } from './list/pets-page.tsx'
import { readIds } from './cards/ids.ts'
import { readCopy } from './receipt/copy.ts'
import { readRange } from './till/range.ts'

const root = createRootRoute({ component: Shell, notFoundComponent: UnknownPage })
const getParentRoute = () => root

const pets = createRoute({ getParentRoute, path: '/', validateSearch: readFilters, component: PetsPage })

const pet = createRoute({
  getParentRoute,
  path: '/pets/$petId',
  component: lazyRouteComponent(() => import('./pet/pet-page.tsx'), 'PetPage'),
})

const holds = createRoute({
  getParentRoute,
  path: '/holds',
  component: lazyRouteComponent(() => import('./selling/holds-page.tsx'), 'HoldsPage'),
})

const till = createRoute({
  getParentRoute,
  path: '/till',
  validateSearch: readRange,
  component: lazyRouteComponent(() => import('./till/till-page.tsx'), 'TillPage'),
})

/** Printed, so it has no shell. */
const receipt = createRoute({
  getParentRoute,
  path: '/receipt/$orderId',
  validateSearch: readCopy,
  component: lazyRouteComponent(() => import('./receipt/receipt-page.tsx'), 'ReceiptPage'),
})

const overview = createRoute({
  getParentRoute,
  path: '/overview',
  component: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
})

const health = createRoute({
  getParentRoute,
  path: '/health',
  component: lazyRouteComponent(() => import('./health/health-page.tsx'), 'HealthPage'),
})

const apiKeys = createRoute({
  getParentRoute,
  path: '/api-keys',
  component: lazyRouteComponent(() => import('./api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
})

const importPets = createRoute({
  getParentRoute,
  path: '/import',
  component: lazyRouteComponent(() => import('./import/import-page.tsx'), 'ImportPage'),
})

const webhooks = createRoute({
  getParentRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})

const webhook = createRoute({
  getParentRoute,
  path: '/webhooks/$webhookId',
  component: lazyRouteComponent(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
})

const settings = createRoute({
  getParentRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
})

const cards = createRoute({
  getParentRoute,
  path: '/cards',
  validateSearch: readIds,
  component: lazyRouteComponent(() => import('./cards/cards-page.tsx'), 'CardsPage'),
})

const more = createRoute({
  getParentRoute,
  path: '/more',
  component: lazyRouteComponent(() => import('./shell/more-page.tsx'), 'MorePage'),
})

/** The identity provider returns here. The shell shows the sign-in page while there is no session. */
const signIn = createRoute({
  getParentRoute,
  path: '/sign-in',
  component: () => <Navigate to="/" replace />,
})

export const router = createRouter({
  routeTree: root.addChildren([
    pets,
    pet,
    holds,
    till,
    receipt,
    overview,
    health,
    apiKeys,
    importPets,
    webhooks,
    webhook,
    settings,
    cards,
    more,
    signIn,
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
  // All values are text, which readFilters and readRange check. By default, the router writes digits in quotes.
  parseSearch: parseSearchWith((text) => text),
  stringifySearch: stringifySearchWith(String),
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface HistoryState {
    /** Set if the page before this one in the history of the browser is the list of pets. */
    isFromList?: boolean
    /** The same for the page of the holds. */
    isFromHolds?: boolean
  }
}
