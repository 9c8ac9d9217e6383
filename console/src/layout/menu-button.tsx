// A button with three dots, which opens the actions that are not needed often.
import { ActionIcon, Menu } from '@mantine/core'
import type { ReactNode } from 'react'
import { MoreIcon } from './icons.tsx'

export function MenuButton({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionIcon aria-label={label}>
          <MoreIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
