// The compile cache of Node, in the folder that the executable itself uses. Tests set it as NODE_COMPILE_CACHE, so that the
// cache also covers the modules that Node loads before the executable enables the cache.
import { homedir } from 'node:os'
import { join } from 'node:path'

export const COMPILE_CACHE = join(homedir(), '.cache/petstore/compiled')
