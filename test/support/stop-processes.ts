// After each test file: no process that a test started may outlive it.
import { afterAll } from 'vitest'
import { killRunning } from './service.ts'

afterAll(killRunning)
