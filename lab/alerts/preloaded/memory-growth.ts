// Loaded into `petstore serve`: on SIGUSR2, the process allocates memory until it uses 480 MB, and keeps it, like a leak.
const RESIDENT_BYTES = 480e6
const CHUNK_BYTES = 8 * 1024 * 1024
const CHUNKS_MAX = 100

const kept: Buffer[] = []

process.on('SIGUSR2', () => {
  // Filled with bytes other than 0, so that the pages are resident.
  while (process.memoryUsage.rss() < RESIDENT_BYTES && kept.length < CHUNKS_MAX)
    kept.push(Buffer.alloc(CHUNK_BYTES, kept.length + 1))
})
