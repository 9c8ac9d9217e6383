// The title of the browser tab, which also names the page for screen readers and in the history of the browser.
import { useEffect } from 'react'

export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Petstore`
    return () => {
      document.title = 'Petstore'
    }
  }, [title])
}
