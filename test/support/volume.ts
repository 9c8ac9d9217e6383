// How much work a test does: enough to fail on a defect, and with TEST_VOLUME=full as much as before a release.
export const IS_FULL = process.env['TEST_VOLUME'] === 'full'

export function volume(usual: number, full: number): number {
  return IS_FULL ? full : usual
}
