// Runs after `npm install`: prints the required Node version if the installed version is too old. The message replaces
// npm's warning for each package, which `loglevel` in .npmrc turns off. This file is JavaScript, because old versions
// of Node cannot run TypeScript.

const isSupported = (version) => {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number)
  return major > 24 || (major === 24 && minor >= 12)
}

// In an npm script, `node` is the development dependency `node`. npm itself runs on the installed Node.
const installed = /\bnode\/(v\S+)/.exec(process.env.npm_config_user_agent ?? '')?.[1] ?? process.version
if (!isSupported(installed)) {
  const how = isSupported(process.version)
    ? `npm scripts use ${process.version} from node_modules`
    : 'install a newer one before you start the service'
  process.stdout.write(`Petstore needs Node 24.12 or newer. The installed version is ${installed}: ${how}.\n`)
}
