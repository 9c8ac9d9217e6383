#!/usr/bin/env -S node --max-semi-space-size=8
// The flag saves the process some 60 MB in a flood of requests.
import { enableCompileCache } from 'node:module'

// A command starts in half the time from its second run on.
enableCompileCache()
const { runProgram } = await import('../src/cli/program.ts')
await runProgram(process.argv)
