// Loaded into `petstore serve`: the service behaves like a version that removes getPet in 60 days.
import { registerHooks } from 'node:module'

const DAYS = 60
const DAY_MS = 86_400_000
const FILE = '/src/store/pets/deprecation.ts'
const REMOVAL = /(GET_PET_REMOVAL = new Date\(')[^']+/

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(FILE)) return loaded
    const source = Buffer.from(loaded.source as Uint8Array).toString()
    if (!REMOVAL.test(source)) throw new Error(`${FILE} has no ${REMOVAL}`)
    const removal = new Date(Date.now() + DAYS * DAY_MS).toISOString()
    return { ...loaded, source: source.replace(REMOVAL, `$1${removal}`) }
  },
})
