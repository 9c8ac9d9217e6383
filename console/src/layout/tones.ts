// The tones of tints.

export type Tone = 'ok' | 'wait' | 'bad' | 'info' | 'done'
