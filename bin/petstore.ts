#!/usr/bin/env -S node --max-semi-space-size=8
// The flag keeps the process under 300 MB in a flood of requests, at no measurable cost.
import { enableCompileCache } from 'node:module'

// A command starts in half the time from its second run on.
enableCompileCache()
const { runProgram } = await import('../src/cli/program.ts')
await runProgram(process.argv)
