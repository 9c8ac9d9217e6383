// How much a test does: enough to see its assertion fail on a defect, and with FULL=1 as much as before a release.
export function volume(usual: number, full: number): number {
  return process.env['FULL'] === '1' ? full : usual
}
