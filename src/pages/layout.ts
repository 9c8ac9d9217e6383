// The layout of the HTML pages: head, navigation, and escaping of texts.
import {
  CLIENT_PAGE,
  ERRORS_PAGE,
  GET_PET_PAGE,
  INTERFACE_DOCUMENT,
  REFERENCE_PAGE,
} from '../http/page-addresses.ts'
import { ICON, STYLE } from './assets.ts'

const PAGES = [
  { address: REFERENCE_PAGE, name: 'Reference' },
  { address: CLIENT_PAGE, name: 'Client' },
  { address: ERRORS_PAGE, name: 'Errors' },
  { address: GET_PET_PAGE, name: 'getPet deprecation' },
  { address: INTERFACE_DOCUMENT, name: 'openapi.json' },
]

interface Page {
  address: string
  title: string
  description: string
  /** HTML that starts with the heading. */
  content: string
}

export function pageHead(title: string, description: string): string {
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" type="image/svg+xml" href="${ICON.address}">
<link rel="stylesheet" href="${STYLE.address}">`
}

export function renderPage({ address, title, description, content }: Page): string {
  const links = PAGES.map(
    (page) =>
      `<li><a href="${page.address}"${page.address === address ? ' aria-current="page"' : ''}>${page.name}</a></li>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
${pageHead(`${title} · Petstore`, description)}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="${REFERENCE_PAGE}"><img src="${ICON.address}" alt="" width="24" height="24">Petstore</a>
<nav aria-label="Pages"><ul>${links.join('')}</ul></nav>
</header>
<main id="content" class="page" tabindex="-1">
${content}
</main>
</body>
</html>
`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '')
}

/** Escapes a sentence. Text between backticks becomes `<code>`. */
export function sentence(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}
