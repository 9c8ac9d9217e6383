// Keyboard shortcuts that work on every page. `?` opens the list of all shortcuts.
import { useHotkeys } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { lastFilters } from '../pets/last-list.ts'

const ShortcutList = lazy(() =>
  import('./shortcut-list.tsx').then((file) => ({ default: file.ShortcutList })),
)

interface Props {
  /** Whether the list of all shortcuts is shown. */
  isOpen: boolean
  onOpen: () => void
  onClose: () => void
}

/** How long `g` waits for the second key. */
const SECOND_KEY_MS = 1_500

export function Shortcuts({ isOpen, onOpen, onClose }: Props) {
  const navigate = useNavigate()
  const go = (to: '/' | '/holds' | '/till' | '/overview') => () => {
    if (Date.now() - goPressedAt < SECOND_KEY_MS) void navigate({ to })
  }
  useHotkeys([
    ['shift+?', onOpen],
    ['?', onOpen],
    ['/', () => void navigate({ to: '/', search: lastFilters() }).then(() => focus('search'))],
    ['n', () => void navigate({ to: '/', search: { ...lastFilters(), add: true } })],
    ['g', () => (goPressedAt = Date.now())],
    ['p', go('/')],
    ['h', go('/holds')],
    ['t', go('/till')],
    ['o', go('/overview')],
  ])
  return <Suspense>{isOpen && <ShortcutList onClose={onClose} />}</Suspense>
}

let goPressedAt = 0

function focus(id: string): void {
  document.getElementById(id)?.focus()
}
