// The command that repeats one test with the same random values and the same volume.
import { IS_FULL } from './volume.ts'

export function repeatCommand(file: string, title: string, seed: number | string): string {
  const kind = /^test\/(slow|proof)\//.exec(file)?.[1]
  const script = kind === undefined ? 'npm test' : `npm run test:${kind}`
  return `TEST_SEED=${seed} ${IS_FULL ? 'TEST_VOLUME=full ' : ''}${script} -- ${file} -t ${quote(title)}`
}

/** For the shell, and for `-t`, which reads a regular expression. */
function quote(title: string): string {
  return `'${title.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll("'", `'\\''`)}'`
}
