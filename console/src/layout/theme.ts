// Font, sizes, corners and teal of Mantine's components. The other colours are tokens in tokens.css.
import { ActionIcon, Alert, createTheme, Kbd, type MantineColorsTuple, rem } from '@mantine/core'

/** The teal of the icon is shade 7. White text on it has a contrast of 5.5. */
const TEAL: MantineColorsTuple = [
  '#effcfa',
  '#d3f6f0',
  '#a5ece1',
  '#6fdccd',
  '#3fc4b4',
  '#1fa698',
  '#14877c',
  '#0f766e',
  '#0d5f59',
  '#0b4d49',
]
const FONT = '"Inter Variable", "Inter fallback", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'

/** Below, the console has the layout of a phone: one column, and a bar at the bottom. */
const PHONE_BELOW = '51.3125em'
/** Below, the sidebar shows only icons, and lists have fewer columns. */
const ICONS_BELOW = '77.5625em'
export const IS_PHONE = '(max-width: 51.25em)'

/** The tint of an alert by its colour. */
const ALERT_TONES: Record<string, string> = {
  red: 'bad',
  yellow: 'wait',
  green: 'ok',
  teal: 'ok',
  gray: 'done',
}

export const THEME = createTheme({
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', size: 36 } }),
    // A key next to the words of a button is no part of its name.
    Kbd: Kbd.extend({ defaultProps: { 'aria-hidden': true } }),
    Alert: Alert.extend({
      vars: (_, { color }) => {
        const tone = ALERT_TONES[String(color)] ?? 'info'
        return { root: { '--alert-bg': `var(--${tone}-tint)`, '--alert-color': `var(--${tone}-ink)` } }
      },
    }),
  },
  colors: { teal: TEAL },
  primaryColor: 'teal',
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'md',
  radius: { sm: rem(6), md: rem(8), lg: rem(12), xl: rem(16) },
  cursorType: 'pointer',
  breakpoints: { xs: '36em', sm: PHONE_BELOW, md: '62em', lg: ICONS_BELOW, xl: '90em' },
  fontFamily: FONT,
  fontSizes: { xs: rem(13), sm: rem(14), md: rem(14), lg: rem(16), xl: rem(20) },
  lineHeights: { xs: '1.54', sm: '1.43', md: '1.43', lg: '1.5', xl: '1.4' },
  headings: {
    fontFamily: FONT,
    fontWeight: '600',
    sizes: {
      h1: { fontSize: rem(24), lineHeight: '1.334' },
      h2: { fontSize: rem(20), lineHeight: '1.4' },
      h3: { fontSize: rem(16), lineHeight: '1.5' },
      h4: { fontSize: rem(16), lineHeight: '1.5' },
      h5: { fontSize: rem(14), lineHeight: '1.43' },
    },
  },
})
