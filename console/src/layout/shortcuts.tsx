// Keyboard shortcuts that work on every page, and the list of all shortcuts, which `?` opens.
import { Kbd, Modal, Table } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'

const SHORTCUTS = [
  { keys: ['/'], does: 'Search pets' },
  { keys: ['n'], does: 'Add a pet' },
  { keys: ['j', 'k'], does: 'Next and previous pet in the list' },
  { keys: ['Enter'], does: 'Open the selected pet' },
  { keys: ['g', 'p'], does: 'Go to pets' },
  { keys: ['g', 'h'], does: 'Go to holds' },
  { keys: ['g', 'o'], does: 'Go to the overview' },
  { keys: ['Esc'], does: 'Close a dialog' },
  { keys: ['?'], does: 'Show this list' },
]

/** How long `g` waits for the second key. */
const SECOND_KEY_MS = 1_500

export function Shortcuts() {
  const [isOpen, list] = useDisclosure()
  const navigate = useNavigate()
  const go = (to: '/' | '/holds' | '/overview') => () => {
    if (Date.now() - goPressedAt < SECOND_KEY_MS) void navigate({ to })
  }
  useHotkeys([
    ['shift+?', list.open],
    ['?', list.open],
    ['/', () => void navigate({ to: '/' }).then(() => focus('search'))],
    ['n', () => void navigate({ to: '/', search: (current) => ({ ...current, add: true }) })],
    ['g', () => (goPressedAt = Date.now())],
    ['p', go('/')],
    ['h', go('/holds')],
    ['o', go('/overview')],
  ])
  return (
    <Modal
      opened={isOpen}
      onClose={list.close}
      title="Keyboard shortcuts"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Table>
        <Table.Tbody>
          {SHORTCUTS.map(({ keys, does }) => (
            <Table.Tr key={does}>
              <Table.Td>
                {keys.map((key) => (
                  <Kbd key={key} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}

let goPressedAt = 0

function focus(id: string): void {
  document.getElementById(id)?.focus()
}
