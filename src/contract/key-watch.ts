// What long responses, such as streams and exports, use to end with their API key. src/access/api-keys/key-watch.ts
// implements it. Other responses need no watch: they contain only what was read when the key was valid.

export interface KeyWatch {
  /** Calls `end` once the key is no longer valid. Returns the function that ends the watch. */
  add: (apiKeyId: bigint, end: () => void) => () => void
}
