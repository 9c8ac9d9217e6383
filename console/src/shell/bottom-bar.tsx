// The bar at the bottom of a phone.
import { Link } from '@tanstack/react-router'
import { MoreIcon } from '../layout/icons.tsx'
import { useAllowedPages, useIsCurrent } from './pages.ts'
import { HoldCount } from './sidebar.tsx'

export function BottomBar() {
  const { shop } = useAllowedPages()
  const isCurrent = useIsCurrent()
  const inBar = shop.filter(({ isInBar }) => isInBar)
  const isElsewhere = !inBar.some(({ to }) => isCurrent(to))
  return (
    <nav aria-label="Pages" className="bottom-bar">
      {inBar.map(({ to, label, Icon }) => (
        <Link key={to} to={to} aria-current={isCurrent(to) ? 'page' : undefined}>
          <Icon size={22} />
          {label}
          {to === '/holds' && <HoldCount />}
        </Link>
      ))}
      <Link to="/more" aria-current={isElsewhere ? 'page' : undefined}>
        <MoreIcon size={22} />
        More
      </Link>
    </nav>
  )
}
