// What is said in a tint: a few words of state, or one short line. Nothing spans the page in a solid colour.
import type { ReactNode } from 'react'
import type { Tone } from './tones.ts'

export function Tint({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className="tint" data-tone={tone}>
      {children}
    </span>
  )
}

interface LineNoteProps {
  tone?: Tone
  role?: 'alert' | 'status'
  children: ReactNode
}

export function LineNote({ tone, role, children }: LineNoteProps) {
  return (
    <div className="line-note" data-tone={tone} role={role}>
      {children}
    </div>
  )
}
