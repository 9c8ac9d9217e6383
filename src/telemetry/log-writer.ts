// Writes lines to a file descriptor without blocking. Beyond a limit in memory, lines are dropped and counted.
import { write, writeSync } from 'node:fs'

/** Lines are written in blocks. A block that is not full is written after this time. */
const WRITTEN_AFTER_MS = 100
const BLOCK_CHARACTERS = 8_192
/** Max blocks per write. Eight full blocks have about 64 KiB, the capacity of a pipe. */
const BLOCKS_PER_WRITE_MAX = 8
/** Delay before a failed write is retried. The reader may be slow, stalled or not running, or the disk may be full. */
const RETRIED_AFTER_MS = 10
/** Max unwritten text in memory: about 40,000 request lines, or two seconds at full load. */
export const UNWRITTEN_MAX_CHARACTERS = 8 * 1_048_576

export interface LogWriter {
  write: (line: string) => void
  /** Starts to write all lines now, even if the last block is not full. */
  flush: () => void
  /** Writes as much as possible without blocking. Called when the process exits. */
  flushSync: () => void
  /** Stops writing. Unwritten lines are lost. */
  close: () => void
  unwrittenCharacters: () => number
  /** Number of lines dropped since the process started. */
  droppedLines: () => number
}

/** If lines were dropped, calls `onRecovered` with their number as soon as the waiting lines are written. */
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
      // Every failure can be temporary: a full pipe, a full disk, or a named pipe without a reader.
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
      // The write failed, or it would block. Keep the rest in memory.
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
