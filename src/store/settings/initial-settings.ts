// The variables that choose the first settings of the shop. From the first migration on, the stored settings count.
import type { Config } from '../../config/config.ts'
import type { StoredSettings } from './queries.ts'

const VARIABLES = { CURRENCY: 'currency', TIME_ZONE: 'timeZone' } as const
const NAMES = Object.keys(VARIABLES) as (keyof typeof VARIABLES)[]

/** What the operator reads about each variable that differs from what is stored. */
export function describeOtherVariables(
  stored: StoredSettings,
  config: Pick<Config, keyof typeof VARIABLES>,
): { message: string; remedy: string }[] {
  return NAMES.flatMap((name) => {
    const [given, kept] = [config[name], stored[VARIABLES[name]]]
    if (given === undefined || given === kept) return []
    return [
      {
        message: `${name} is ${given}, but the shop has ${kept}, which counts`,
        remedy: `${name} only chooses the first value. Remove it or set ${name}=${kept}. If the shop needs ${given}, an administrator changes its settings.`,
      },
    ]
  })
}
