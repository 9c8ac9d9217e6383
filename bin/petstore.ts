#!/usr/bin/env node
import { runProgram } from '../src/cli/program.ts'

await runProgram(process.argv)
