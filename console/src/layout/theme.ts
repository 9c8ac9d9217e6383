// Colours and sizes of the console. The colours of the status of a pet are in layout.css.
import { createTheme, type MantineColorsTuple } from '@mantine/core'

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

export const THEME = createTheme({
  colors: { teal: TEAL },
  primaryColor: 'teal',
  primaryShade: { light: 7, dark: 7 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  headings: { fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif' },
})
