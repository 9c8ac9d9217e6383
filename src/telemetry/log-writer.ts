// Writes lines to a file descriptor without waiting for its reader. Memory is bounded: lines beyond the limit are
// dropped and counted. Knows nothing of what a line says.
import { write, writeSync } from 'node:fs'

/** Lines are written in blocks, at the latest after this time. */
const WRITTEN_AFTER_MS = 100
const BLOCK_CHARACTERS = 8_192
/** Blocks per write while it catches up: 64 KiB, as much as a pipe holds. */
const BLOCKS_PER_WRITE_MAX = 8
/** The reader is slow, stalled or gone, or the disk is full. */
const RETRIED_AFTER_MS = 10
/** Unwritten text in memory, about 40,000 lines of requests: two seconds of full load. */
export const UNWRITTEN_MAX_CHARACTERS = 8 * 1_048_576

export interface LogWriter {
  write: (line: string) => void
  /** Starts to write everything now. */
  flush: () => void
  /** Writes as much as fits without waiting: for the end of the process. */
  flushSync: () => void
  /** Gives up what is not written yet. */
  close: () => void
  unwrittenCharacters: () => number
  /** Since the start of the process. */
  droppedLines: () => number
}

/** `onRecovered` is called with the number of lines dropped, once everything else has been written. */
export function openLogWriter(fd: number, onRecovered: (droppedLines: number) => void): LogWriter {
  /** Collects lines until it is large enough to be written. */
  let block = ''
  let waiting: string[] = []
  /** What is being written: its length in characters, and the bytes that are left of it. */
  let current = { characters: 0, bytes: Buffer.alloc(0) }
  let unwritten = 0
  let isWriting = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let dropped = 0
  let reported = 0

  function closeBlock(): void {
    if (block !== '') waiting.push(block)
    block = ''
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    closeBlock()
    writeNext()
  }

  function writeNext(): void {
    if (isWriting || isClosed) return
    if (current.bytes.length === 0) {
      const next = waiting.splice(0, BLOCKS_PER_WRITE_MAX).join('')
      if (next === '') return
      current = { characters: next.length, bytes: Buffer.from(next) }
    }
    isWriting = true
    write(fd, current.bytes, (error, bytesWritten) => {
      isWriting = false
      // Any failure may pass: a full pipe is read again, a full disk gets space, a named pipe gets a new reader.
      if (error !== null) return retry()
      advance(bytesWritten)
      writeNext()
    })
  }

  function retry(): void {
    clearTimeout(timer)
    timer = setTimeout(flush, RETRIED_AFTER_MS).unref()
  }

  function advance(bytesWritten: number): void {
    current.bytes = current.bytes.subarray(bytesWritten)
    if (current.bytes.length > 0) return
    unwritten -= current.characters
    if (waiting.length > 0 || dropped === reported) return
    const newlyDropped = dropped - reported
    reported = dropped
    onRecovered(newlyDropped)
  }

  function flushSync(): void {
    // The outcome of a write in flight is unknown, and where it is blocked another one would be too.
    if (isWriting || isClosed) return
    closeBlock()
    let rest = Buffer.concat([current.bytes, Buffer.from(waiting.join(''))])
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest))
    } catch {
      // Nobody reads. The rest stays, for as long as the process does.
    }
    waiting = []
    if (rest.length === 0) unwritten = 0
    current = { characters: unwritten, bytes: rest }
  }

  return {
    write: (line) => {
      if (unwritten + line.length > UNWRITTEN_MAX_CHARACTERS) {
        dropped += 1
        return
      }
      unwritten += line.length
      block += line
      if (block.length < BLOCK_CHARACTERS) {
        timer ??= setTimeout(flush, WRITTEN_AFTER_MS).unref()
        return
      }
      closeBlock()
      writeNext()
    },
    flush,
    flushSync,
    close: () => {
      isClosed = true
    },
    unwrittenCharacters: () => unwritten,
    droppedLines: () => dropped,
  }
}
