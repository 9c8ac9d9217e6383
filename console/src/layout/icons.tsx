// The icons of the console, 24 × 24, drawn in the colour of the text. They are decoration: a label is always next to them.
import type { ReactNode } from 'react'

function icon(drawing: ReactNode) {
  return ({ size = 18 }: { size?: number }) => (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {drawing}
    </svg>
  )
}

export const PetsIcon = icon(
  <>
    <circle cx="5.5" cy="10.5" r="1.7" />
    <circle cx="9.6" cy="6" r="1.8" />
    <circle cx="14.4" cy="6" r="1.8" />
    <circle cx="18.5" cy="10.5" r="1.7" />
    <path d="M12 11.5c2.6 0 5 3 5 5.4 0 1.7-1.2 2.4-2.5 2.4-1 0-1.7-.4-2.5-.4s-1.5.4-2.5.4c-1.3 0-2.5-.7-2.5-2.4 0-2.4 2.4-5.4 5-5.4z" />
  </>,
)
export const HoldsIcon = icon(
  <>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 7.5V12l3 2" />
  </>,
)
export const TillIcon = icon(
  <path d="M5 11h14l1.5 8.5h-17zM8 11V4h8v7M10.5 7h3M8 15h.01M12 15h.01M16 15h.01" />,
)
export const LockIcon = icon(<path d="M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3" />)
export const OverviewIcon = icon(<path d="M4 20V10m5.3 10V4m5.4 16v-7m5.3 7V8" />)
export const HealthIcon = icon(<path d="M3 12h4l2.5-6 5 12L17 12h4" />)
export const KeyIcon = icon(
  <>
    <circle cx="8" cy="15" r="4" />
    <path d="M11 12l8.5-8.5M16 7l3 3" />
  </>,
)
export const WebhooksIcon = icon(
  <>
    <circle cx="6" cy="12" r="2.5" />
    <circle cx="18" cy="5.5" r="2.5" />
    <circle cx="18" cy="18.5" r="2.5" />
    <path d="M8.3 10.8l7.4-4.1M8.3 13.2l7.4 4.1" />
  </>,
)
export const SettingsIcon = icon(
  <>
    <path d="M4 7.5h8M17 7.5h3M4 16.5h3M12 16.5h8" />
    <circle cx="14.5" cy="7.5" r="2.3" />
    <circle cx="9.5" cy="16.5" r="2.3" />
  </>,
)
export const SearchIcon = icon(
  <>
    <circle cx="10.5" cy="10.5" r="6.5" />
    <path d="M15.5 15.5L20 20" />
  </>,
)
export const ColumnsIcon = icon(<path d="M4 5h16v14H4zM9.3 5v14M14.7 5v14" />)
export const MoreIcon = icon(<path d="M5 12h.01M12 12h.01M19 12h.01" strokeWidth={2.6} />)
export const ForwardIcon = icon(<path d="M9 5l7 7-7 7" />)
export const DownIcon = icon(<path d="M7 10l5 5 5-5" />)
export const ArrowDownIcon = icon(<path d="M12 5v13m-5-5l5 5 5-5" />)
export const ArrowUpIcon = icon(<path d="M12 19V6m-5 5l5-5 5 5" />)
export const CloseIcon = icon(<path d="M6 6l12 12M18 6L6 18" />)
export const PlusIcon = icon(<path d="M12 5v14M5 12h14" />)
export const SignOutIcon = icon(
  <path d="M14 4H6a1 1 0 0 0-1 1v14a1 1 0 0 0 1 1h8M10 12h10m-3.5-3.5L20 12l-3.5 3.5" />,
)
export const SunIcon = icon(
  <>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 3v1.5M12 19.5V21M3 12h1.5M19.5 12H21M5.6 5.6l1 1M17.4 17.4l1 1M5.6 18.4l1-1M17.4 6.6l1-1" />
  </>,
)
export const MoonIcon = icon(<path d="M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z" />)
export const DownloadIcon = icon(<path d="M12 4v11m-4-4l4 4 4-4M5 20h14" />)
export const UploadIcon = icon(<path d="M12 15V4m-4 4l4-4 4 4M5 20h14" />)
export const PrintIcon = icon(<path d="M7 9V4h10v5M7 17H4v-7h16v7h-3M7 14h10v6H7z" />)
export const BackIcon = icon(<path d="M15 5l-7 7 7 7" />)
export const EditIcon = icon(<path d="M4 20h4L19 9l-4-4L4 16zM13 7l4 4" />)
export const DeleteIcon = icon(<path d="M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5" />)
export const SendIcon = icon(<path d="M4 12l16-8-5 17-4-7zM11 14l4-4" />)
export const PauseIcon = icon(<path d="M8 5v14M16 5v14" />)
export const ResumeIcon = icon(<path d="M7 5l12 7-12 7z" />)
export const BookIcon = icon(<path d="M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11" />)
export const KeyboardIcon = icon(
  <>
    <rect x="3" y="6" width="18" height="12" rx="2" />
    <path d="M7 10h.01M11 10h.01M15 10h.01M8 14h8" />
  </>,
)
export const BanknoteIcon = icon(
  <>
    <rect x="3" y="6.5" width="18" height="11" rx="2" />
    <circle cx="12" cy="12" r="2.5" />
    <path d="M6.5 12h.01M17.5 12h.01" />
  </>,
)
export const CardIcon = icon(
  <>
    <rect x="3" y="5.5" width="18" height="13" rx="2" />
    <path d="M3 10h18M7 14.5h3" />
  </>,
)
export const BankIcon = icon(<path d="M4 9l8-5 8 5zM5 20h14M7 10v7M12 10v7M17 10v7" />)
export const GiftIcon = icon(
  <path d="M4 9h16v4H4zM6 13v7h12v-7M12 9v11M12 9C9 9 7.5 7.5 8 6s3-1.5 4 3c1-4.5 3.5-4.5 4-3s-1 3-4 3" />,
)
