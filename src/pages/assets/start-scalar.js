// Runs before Scalar's script, and starts it on the reference page with everything off that would ask another host.

// A library in it tries whether it may make code out of text; the policy of the page would refuse and report that.
globalThis.__zod_globalConfig = { jitless: true }

// Deferred scripts have all run by then.
addEventListener('DOMContentLoaded', () => {
  Scalar.createApiReference('#reference', {
    url: '/openapi.json',
    // Requests go to the host that served this page, by whatever name it was reached.
    servers: [{ url: `${location.origin}/v1`, description: 'This host' }],
    proxyUrl: '',
    authentication: { preferredSecurityScheme: 'apiKey' },
    // An API key stays in the memory of the page.
    persistAuth: false,
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    documentDownloadType: 'json',
    showOperationId: true,
    // Behind Scalar's "Show More", operations cannot be found by a search on the page, nor by its name in speech.
    defaultOpenAllTags: true,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    metaData: { title: 'Petstore API reference' },
  })
  new MutationObserver(completeControls).observe(document.body, { childList: true, subtree: true })
})

/** What a screen reader and the keyboard need and Scalar leaves out. */
function completeControls() {
  for (const button of document.querySelectorAll('button.group\\/copy-button:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy')
  }
  // On a phone it scrolls, which a keyboard could not do.
  for (const list of document.querySelectorAll('ul.endpoints:not([tabindex])')) list.tabIndex = 0
}
