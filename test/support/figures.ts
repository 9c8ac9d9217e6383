// Limits in milliseconds hold only on a quiet host. TEST_FIGURES=on, for a nightly run on such a host, checks them. Without
// it, the tests check everything else.
export const CHECKS_FIGURES = process.env['TEST_FIGURES'] === 'on'
