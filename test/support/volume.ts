// How much work a test does. The default is enough to detect defects; TEST_VOLUME=full, for use before a release, does more.
export const IS_FULL = process.env['TEST_VOLUME'] === 'full'

export function volume(usual: number, full: number): number {
  return IS_FULL ? full : usual
}
