// How much a test does: enough to see its assertion fail on a defect, and with TEST_VOLUME=full as much as before a release.
export function volume(usual: number, full: number): number {
  return process.env['TEST_VOLUME'] === 'full' ? full : usual
}
