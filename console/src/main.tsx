// Starts the console: theme, data and pages.
import './layout/mantine-styles.ts'
import './layout/tokens.css'
import './layout/layout.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { MESSAGES_MAX } from './layout/notify.tsx'
import { THEME } from './layout/theme.ts'
import { router } from './router.tsx'
import { forgetFormerSessions } from './shell/forget-session.ts'
import { useSession } from './session/session.ts'
import { restoreSession } from './session/tabs.ts'
import { readPage } from './shop/read-page.ts'

const container = document.getElementById('console')
if (container === null) throw new Error('The page has no element #console.')

function SessionData({ children }: { children: ReactNode }) {
  return <QueryClientProvider client={useSession().cache}>{children}</QueryClientProvider>
}

readPage()
forgetFormerSessions()
await restoreSession()
createRoot(container).render(
  <StrictMode>
    <MantineProvider theme={THEME} defaultColorScheme="auto">
      <Notifications position="bottom-center" limit={MESSAGES_MAX} />
      <SessionData>
        <RouterProvider router={router} />
      </SessionData>
    </MantineProvider>
  </StrictMode>,
)
