// Starts the console: theme, data and pages.
import './layout/mantine-styles.ts'
import './layout/layout.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { THEME } from './layout/theme.ts'
import { queryClient } from './query-client.ts'
import { router } from './router.tsx'
import { restoreSession } from './session/tabs.ts'

const container = document.getElementById('console')
if (container === null) throw new Error('The page has no element #console.')

await restoreSession()
createRoot(container).render(
  <StrictMode>
    <MantineProvider theme={THEME} defaultColorScheme="auto">
      <Notifications position="bottom-center" limit={3} />
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
