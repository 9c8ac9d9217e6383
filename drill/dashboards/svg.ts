// The parts of SVG that all panels share: frames, text and colours on a light background.

export interface Box {
  x: number
  y: number
  width: number
  height: number
}

export const INK = '#24292f'
export const GREY = '#6a737d'
export const GRID = '#e3e5e8'
export const TITLE_HEIGHT = 26
/** The mean width of a character, relative to the size of the font. */
const CHARACTER_WIDTH = 0.55

/** The colours of thresholds: a line or text, and the background of a value. */
export const LEVELS: Record<string, { ink: string; fill: string }> = {
  green: { ink: '#1a7f37', fill: '#e4f4e7' },
  orange: { ink: '#a85800', fill: '#fff0d9' },
  red: { ink: '#b3261e', fill: '#fde4e1' },
}

export const fixed = (value: number) => String(Math.round(value * 10) / 10)

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

export const widthOf = (text: string, fontSize: number) => text.length * fontSize * CHARACTER_WIDTH

/** Cuts a text that is too wide. */
export function cut(text: string, fontSize: number, width: number): string {
  const max = Math.max(1, Math.floor(width / (fontSize * CHARACTER_WIDTH)))
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`
}

/** The card of a panel with its title. Browsers show the description when the mouse is over it. */
export function drawCard(box: Box, title: string, description: string, fill = '#ffffff'): string {
  const shown = escapeXml(cut(title, 13.5, box.width - 20))
  const plain = description.replaceAll('**', '').replaceAll(/\[(.*?)\]\(.*?\)/g, 'runbook, "$1"')
  return `<title>${escapeXml(plain)}</title>
<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="4" fill="${fill}" stroke="#d5d9de"/>
<text x="${box.x + 10}" y="${box.y + 18}" font-weight="600">${shown}</text>`
}
