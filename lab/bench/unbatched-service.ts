// The service without batching, as a baseline: every request runs its own query.
import { readConfig } from '../../src/config/config.ts'
import { runService } from '../../src/server/process.ts'

await runService(readConfig(), { isBatching: false })
