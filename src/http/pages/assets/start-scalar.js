// Starts Scalar on the reference page, with everything off that would ask another host.
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
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  metaData: { title: 'Petstore API reference' },
})
