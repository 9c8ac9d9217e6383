// The HTML page that a service without the files of `npm run build` shows instead of the console, the reference
// and the package of the client.
import { renderPage } from './layout.ts'

export function notBuiltPage(what: 'console' | 'reference' | 'client', address: string): string {
  return renderPage({
    address,
    title: `The ${what} is not built`,
    description: `How to build the ${what}.`,
    content: `<h1>The ${what} is not built</h1>
<p>Run <code>npm ci</code> and <code>npm run build</code> in the folder of Petstore, then restart the service. The API works without the ${what}.</p>`,
  })
}
