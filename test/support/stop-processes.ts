// After each test file: kills the processes that its tests left running.
import { afterAll } from 'vitest'
import { killRunning } from './service.ts'

afterAll(killRunning)
