// Writes lines to a file descriptor without blocking. Bounds its memory: lines beyond the limit are dropped and counted.
// Knows nothing about the content of a line.
import { write, writeSync } from 'node:fs'

/** Lines are written in blocks. An incomplete block is written after this time. */
const WRITTEN_AFTER_MS = 100
const BLOCK_CHARACTERS = 8_192
/** Max blocks per write: 64 KiB, the capacity of a pipe. */
const BLOCKS_PER_WRITE_MAX = 8
/** Delay after a failed write: the reader is slow, stalled or not running, or the disk is full. */
const RETRIED_AFTER_MS = 10
/** Max unwritten text in memory: about 40,000 request lines, which is two seconds of full load. */
export const UNWRITTEN_MAX_CHARACTERS = 8 * 1_048_576

export interface LogWriter {
  write: (line: string) => void
  /** Starts to write all lines now. */
  flush: () => void
  /** Writes as much as possible without blocking, for the exit of the process. */
  flushSync: () => void
  /** Stops writing. Unwritten lines are lost. */
  close: () => void
  unwrittenCharacters: () => number
  /** Number of dropped lines since the process started. */
  droppedLines: () => number
}

/** Calls `onRecovered` with the number of newly dropped lines, once all other lines are written. */
export function openLogWriter(fd: number, onRecovered: (droppedLines: number) => void): LogWriter {
  /** Collects lines until the block is large enough to be written. */
  let block = ''
  let waiting: string[] = []
  /** The text being written: its length in characters, and its remaining bytes. */
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
      // Every failure can be temporary: a full pipe is read, a disk gets free space, a named pipe gets a new reader.
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
    // The outcome of a write in flight is unknown. If it is blocked, another write would block too.
    if (isWriting || isClosed) return
    closeBlock()
    let rest = Buffer.concat([current.bytes, Buffer.from(waiting.join(''))])
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest))
    } catch {
      // The write would block or failed. Keep the rest in memory.
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
