// The links to all pages, and the account of the person.
import {
  Box,
  Button,
  NavLink,
  Stack,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { Link, useRouterState } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { useSession } from '../session/session.ts'
import { signOut } from '../session/sign-out.ts'
import {
  BookIcon,
  HoldsIcon,
  KeyIcon,
  MoonIcon,
  OverviewIcon,
  PetsIcon,
  SalesIcon,
  SignOutIcon,
  SunIcon,
  WebhooksIcon,
} from '../layout/icons.tsx'
import { Logo } from '../layout/logo.tsx'

interface Item {
  to: '/' | '/holds' | '/sales' | '/overview' | '/api-keys' | '/webhooks'
  label: string
  Icon: ComponentType
  /** Only keys with this scope see the link. */
  scope: string
}

const GROUPS: { title?: string; items: Item[] }[] = [
  {
    items: [
      { to: '/', label: 'Pets', Icon: PetsIcon, scope: 'pets:read' },
      { to: '/holds', label: 'Holds', Icon: HoldsIcon, scope: 'orders:read' },
      { to: '/sales', label: 'Sales', Icon: SalesIcon, scope: 'orders:read' },
      { to: '/overview', label: 'Overview', Icon: OverviewIcon, scope: 'pets:read' },
    ],
  },
  {
    title: 'Administration',
    items: [
      { to: '/api-keys', label: 'Keys and sessions', Icon: KeyIcon, scope: 'admin' },
      { to: '/webhooks', label: 'Webhooks', Icon: WebhooksIcon, scope: 'webhooks:read' },
    ],
  },
]

export function Navigation({ onNavigate }: { onNavigate: () => void }) {
  const { session } = useSession()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const isCurrent = (to: string) =>
    to === '/' ? path === '/' || path.startsWith('/pets/') : path === to || path.startsWith(`${to}/`)
  const { name = '', scopes = [] } = session?.own ?? {}
  return (
    <Stack h="100%" justify="space-between">
      <Box>
        <Box visibleFrom="sm" mb="lg">
          <Logo />
        </Box>
        <nav aria-label="Pages">
          {GROUPS.map(({ title, items }) => {
            const allowed = items.filter(({ scope }) => scopes.includes(scope))
            return (
              allowed.length > 0 && (
                <Box
                  key={title ?? 'shop'}
                  mb="md"
                  {...(title !== undefined && { role: 'group', 'aria-label': title })}
                >
                  {title !== undefined && (
                    <Text size="xs" c="dimmed" fw={600} px="sm" mb={4} aria-hidden="true">
                      {title}
                    </Text>
                  )}
                  {allowed.map(({ to, label, Icon }) => (
                    <NavLink
                      key={to}
                      component={Link}
                      to={to}
                      label={label}
                      leftSection={<Icon />}
                      active={isCurrent(to)}
                      aria-current={isCurrent(to) ? 'page' : undefined}
                      onClick={onNavigate}
                      className="navigation-link"
                    />
                  ))}
                </Box>
              )
            )
          })}
        </nav>
      </Box>
      <Stack gap={4}>
        <NavLink
          component="a"
          href="/docs"
          label="API reference"
          leftSection={<BookIcon />}
          className="navigation-link"
        />
        <ColorSchemeButton />
        <Text size="sm" c="dimmed" px="sm" mt="xs">
          Signed in as{' '}
          <Text span display="block" fw={600} truncate title={name}>
            {name}
          </Text>
        </Text>
        <Button
          variant="subtle"
          color="gray"
          justify="flex-start"
          leftSection={<SignOutIcon />}
          onClick={() => void signOut()}
        >
          Sign out
        </Button>
      </Stack>
    </Stack>
  )
}

function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  return (
    <NavLink
      component="button"
      label={isDark ? 'Light colours' : 'Dark colours'}
      leftSection={isDark ? <SunIcon /> : <MoonIcon />}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      className="navigation-link"
    />
  )
}
