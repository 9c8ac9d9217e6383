// Where Node keeps compiled modules: the folder that the executable itself uses. Set in the environment of a process it
// also covers the modules that are loaded before the executable can ask for it: a command then takes a third less CPU.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const COMPILE_CACHE = join(tmpdir(), 'node-compile-cache')
