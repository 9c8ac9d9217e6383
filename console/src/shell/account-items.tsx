// The menu of the account: colours, shortcuts, the API reference, and the end of the session.
import { Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { BookIcon, KeyboardIcon, MoonIcon, SignOutIcon, SunIcon } from '../layout/icons.tsx'
import { signOut } from '../session/sign-out.ts'

export function AccountItems({ onShowShortcuts }: { onShowShortcuts: () => void }) {
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  return (
    <>
      <Menu.Item
        leftSection={isDark ? <SunIcon /> : <MoonIcon />}
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      >
        {isDark ? 'Light colours' : 'Dark colours'}
      </Menu.Item>
      <Menu.Item leftSection={<KeyboardIcon />} onClick={onShowShortcuts}>
        Keyboard shortcuts
      </Menu.Item>
      <Menu.Item component="a" href="/docs" leftSection={<BookIcon />}>
        API reference
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item leftSection={<SignOutIcon />} onClick={() => void signOut()}>
        Sign out
      </Menu.Item>
    </>
  )
}
