// The fourth tab of a phone: the other pages, colours, and the account.
import { Button, NavLink, SegmentedControl, useMantineColorScheme } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { BookIcon, ForwardIcon, UploadIcon } from '../layout/icons.tsx'
import { Page } from '../layout/page.tsx'
import { useScopes, useSession } from '../session/session.ts'
import { signOut } from '../session/sign-out.ts'
import { initialsOf } from './initials.ts'
import { useAllowedPages } from './pages.ts'
import { PageMark } from './sidebar.tsx'

const COLOURS = [
  { value: 'auto', label: 'As the device' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

export function MorePage() {
  const { shop, administration } = useAllowedPages()
  const canWrite = useScopes().has('pets:write')
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { name = '' } = useSession().session?.own ?? {}
  const others = [...shop.filter(({ isInBar }) => !isInBar), ...administration]
  const look = { className: 'more-link', rightSection: <ForwardIcon /> }
  return (
    <Page title="More" isFlush>
      <nav aria-label="Other pages">
        {others.map(({ to, label, Icon }) => (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            leftSection={<Icon />}
            {...look}
            rightSection={
              <>
                <PageMark to={to} />
                <ForwardIcon />
              </>
            }
          />
        ))}
        {canWrite && (
          <NavLink component={Link} to="/import" label="Import pets" leftSection={<UploadIcon />} {...look} />
        )}
        <NavLink component="a" href="/docs" label="API reference" leftSection={<BookIcon />} {...look} />
      </nav>
      <div className="page-body more-account">
        <SegmentedControl
          aria-label="Colours"
          fullWidth
          data={[...COLOURS]}
          value={colorScheme}
          onChange={setColorScheme}
        />
        <div className="account-line">
          <span className="avatar" aria-hidden="true">
            {initialsOf(name)}
          </span>
          <b>{name}</b>
        </div>
        <Button variant="default" fullWidth onClick={() => void signOut()}>
          Sign out
        </Button>
      </div>
    </Page>
  )
}
