// The list of all keyboard shortcuts.
import { Kbd, Table } from '@mantine/core'
import { Dialog } from '../layout/dialog.tsx'

const SHORTCUTS = [
  { keys: ['/'], does: 'Search pets' },
  { keys: ['n'], does: 'Add a pet' },
  { keys: ['j', 'k'], does: 'Next and previous pet' },
  { keys: ['Enter'], does: 'Open this pet' },
  { keys: ['x'], does: 'Select this pet, to change or sell many at once' },
  { keys: ['a'], does: 'Go to the actions for the selected pets' },
  { keys: ['s'], does: 'Sell the pet of this page' },
  { keys: ['h'], does: 'Hold the pet of this page' },
  { keys: ['e'], does: 'Edit the pet of this page' },
  { keys: ['g', 'p'], does: 'Go to pets' },
  { keys: ['g', 'h'], does: 'Go to holds' },
  { keys: ['g', 't'], does: 'Go to the till' },
  { keys: ['g', 'o'], does: 'Go to the overview' },
  { keys: ['Esc'], does: 'Close a dialog' },
  { keys: ['?'], does: 'Show this list' },
]

export function ShortcutList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Table>
        <Table.Tbody>
          {SHORTCUTS.map(({ keys, does }) => (
            <Table.Tr key={does}>
              <Table.Td>
                {keys.map((key) => (
                  <Kbd key={key} mr={4} aria-hidden={false}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  )
}
