// Tests how the drill finds the Debian mirror of the host.
import { expect, test } from 'vitest'
import { selectMirrors } from '../../lab/cluster/debian-root.ts'

const stanzas = `# A comment
Types: deb
# Another one
URIs: http://mirror.example/debian
Suites: bookworm
 bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb deb-src
URIs: http://security.example/debian-security
Suites: bookworm-security
Components: main contrib
`
const lines = `# deb http://disabled.example/debian bookworm main
deb [arch=amd64 signed-by=/key.gpg] http://mirror.example/debian/ bookworm main contrib # the mirror
deb-src http://source.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main
`
const other = 'Types: deb\nURIs: http://packages.example/tool\nSuites: stable\nComponents: main\n'

test('finds the mirrors in stanzas', () => {
  expect(selectMirrors([{ path: '/etc/apt/sources.list.d/debian.sources', text: stanzas }])).toEqual({
    main: 'http://mirror.example/debian',
    security: 'http://security.example/debian-security',
  })
})

test('finds the mirrors in one-line sources', () => {
  expect(selectMirrors([{ path: '/etc/apt/sources.list', text: lines }])).toEqual({
    main: 'http://mirror.example/debian/',
    security: 'http://security.example/debian-security',
  })
})

test('ignores other repositories, disabled sources and files that apt ignores', () => {
  const files = [
    { path: '/etc/apt/sources.list.d/a-tool.sources', text: other },
    { path: '/etc/apt/sources.list.d/b.sources', text: `Enabled: no\n${stanzas.split('\n\n')[0]}` },
    { path: '/etc/apt/sources.list.d/c.list.disabled', text: lines },
  ]
  expect(() => selectMirrors(files)).toThrow('No Debian mirror found')
})

test('works without a security source', () => {
  const text = 'deb http://mirror.example/debian trixie main\n'
  expect(selectMirrors([{ path: '/etc/apt/sources.list', text }])).toEqual({
    main: 'http://mirror.example/debian',
    security: undefined,
  })
})
