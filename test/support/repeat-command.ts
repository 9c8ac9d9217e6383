// The command that repeats one test with the same random values and the same volume.
import { IS_FULL } from './volume.ts'

export function repeatCommand(file: string, title: string, seed: number | string): string {
  const script = scriptOf(file)
  return `TEST_SEED=${seed} ${IS_FULL ? 'TEST_VOLUME=full ' : ''}${script} -- ${file} -t ${quote(title)}`
}

function scriptOf(file: string): string {
  const folder = /^test\/(slow|proof)\//.exec(file)?.[1]
  if (folder !== undefined) return `npm run test:${folder}`
  return file.endsWith('.process.test.ts') ? 'npm run test:processes' : 'npm test'
}

/** For the shell, and for `-t`, which reads a regular expression. */
function quote(title: string): string {
  return `'${title.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll("'", `'\\''`)}'`
}
