// Runs before Scalar's script and starts Scalar on the reference page.
// Turns off every feature that sends requests to another host.

// Scalar contains Zod, which tests whether it may evaluate code. The Content-Security-Policy would block and report
// this test. `jitless` turns it off.
globalThis.__zod_globalConfig = { jitless: true }

// All deferred scripts have run when this event fires.
addEventListener('DOMContentLoaded', () => {
  Scalar.createApiReference('#reference', {
    url: '/openapi.json',
    // Send requests to the host that served this page, under the name that the browser used.
    servers: [{ url: `${location.origin}/v1`, description: 'This host' }],
    proxyUrl: '',
    authentication: { preferredSecurityScheme: 'apiKey' },
    // Keep API keys only in the memory of the page.
    persistAuth: false,
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    documentDownloadType: 'json',
    showOperationId: true,
    // Scalar's "Show More" hides operations from a search on the page, and voice control cannot press it by its name.
    defaultOpenAllTags: true,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    metaData: { title: 'Petstore API reference' },
  })
  new MutationObserver(completeControls).observe(document.body, { childList: true, subtree: true })
})

/** Adds attributes that screen readers and keyboards need and that Scalar does not set. */
function completeControls() {
  for (const button of document.querySelectorAll('button.group\\/copy-button:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy')
  }
  // On a phone, this list scrolls. A keyboard can scroll the list only if the list can have the focus.
  for (const list of document.querySelectorAll('ul.endpoints:not([tabindex])')) list.tabIndex = 0
}
