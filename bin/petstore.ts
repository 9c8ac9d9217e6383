#!/usr/bin/env -S node --max-semi-space-size=16 --max-old-space-size=320
// The heap must fit into 512 MB together with buffers and code: compose.yaml and deploy/petstore@.service allow no more.
import { enableCompileCache } from 'node:module'

// A command starts in half the time from its second run on.
enableCompileCache()
const { runProgram } = await import('../src/cli/program.ts')
await runProgram(process.argv)
