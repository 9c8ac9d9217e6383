// The form of a planted defect.

export interface Defect {
  name: string
  file: string
  /** Occurs exactly once in the file. */
  find: string
  replace: string
  test: string
  /** Part of the test title, if the whole file takes too long. */
  title?: string
}
