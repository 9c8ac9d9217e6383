// The folder of Node's compile cache, which the executable uses too. Set in the environment, it also covers modules that
// load before the executable enables the cache: a command then takes a third less CPU time.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const COMPILE_CACHE = join(tmpdir(), 'node-compile-cache')
