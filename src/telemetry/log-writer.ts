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
  const blocks = new Blocks(fd, onRecovered)
  return {
    write: (line) => blocks.add(line),
    flush: () => blocks.flush(),
    flushSync: () => blocks.flushSync(),
    close: () => blocks.close(),
    unwrittenCharacters: () => blocks.unwritten,
    droppedLines: () => blocks.dropped,
  }
}

class Blocks {
  /** Characters in memory. */
  unwritten = 0
  /** Lines dropped since the process started, and how many of them were reported. */
  dropped = 0
  #reported = 0
  /** Collects lines until the block is large enough to be written. */
  #block = ''
  #waiting: string[] = []
  /** The text being written: its length in characters, and its remaining bytes. */
  #current = { characters: 0, bytes: Buffer.alloc(0) }
  #isWriting = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  readonly #fd: number
  readonly #onRecovered: (droppedLines: number) => void

  constructor(fd: number, onRecovered: (droppedLines: number) => void) {
    this.#fd = fd
    this.#onRecovered = onRecovered
  }

  add(line: string): void {
    if (this.unwritten + line.length > UNWRITTEN_MAX_CHARACTERS) {
      this.dropped += 1
      return
    }
    this.unwritten += line.length
    this.#block += line
    if (this.#block.length < BLOCK_CHARACTERS) {
      this.#timer ??= setTimeout(() => this.flush(), WRITTEN_AFTER_MS).unref()
      return
    }
    this.#closeBlock()
    this.#writeNext()
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#closeBlock()
    this.#writeNext()
  }

  flushSync(): void {
    // The outcome of a write in flight is unknown. If it is blocked, another write would block too.
    if (this.#isWriting || this.#isClosed) return
    this.#closeBlock()
    let rest = Buffer.concat([this.#current.bytes, Buffer.from(this.#waiting.join(''))])
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#fd, rest))
    } catch {
      // The write failed, or it would block. Keep the rest in memory.
    }
    this.#waiting = []
    if (rest.length === 0) this.unwritten = 0
    this.#current = { characters: this.unwritten, bytes: rest }
  }

  close(): void {
    this.#isClosed = true
  }

  #closeBlock(): void {
    if (this.#block !== '') this.#waiting.push(this.#block)
    this.#block = ''
  }

  #writeNext(): void {
    if (this.#isWriting || this.#isClosed) return
    if (this.#current.bytes.length === 0) {
      const next = this.#waiting.splice(0, BLOCKS_PER_WRITE_MAX).join('')
      if (next === '') return
      this.#current = { characters: next.length, bytes: Buffer.from(next) }
    }
    this.#isWriting = true
    write(this.#fd, this.#current.bytes, (error, bytesWritten) => {
      this.#isWriting = false
      // Every failure can be temporary: a full pipe, a full disk, or a named pipe without a reader.
      if (error !== null) return this.#retry()
      this.#advance(bytesWritten)
      this.#writeNext()
    })
  }

  #retry(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), RETRIED_AFTER_MS).unref()
  }

  #advance(bytesWritten: number): void {
    this.#current.bytes = this.#current.bytes.subarray(bytesWritten)
    if (this.#current.bytes.length > 0) return
    this.unwritten -= this.#current.characters
    if (this.#waiting.length > 0 || this.dropped === this.#reported) return
    const newlyDropped = this.dropped - this.#reported
    this.#reported = this.dropped
    this.#onRecovered(newlyDropped)
  }
}
