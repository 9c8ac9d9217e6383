// All faults of the alert drill, by name. `quiet` is the absence of a fault.
import { DATABASE_FAULTS } from './database-faults.ts'
import { DATE_FAULTS } from './date-faults.ts'
import type { PlantedFault } from './planted-fault.ts'
import { SERVICE_FAULTS } from './service-faults.ts'

const QUIET_SECONDS = 600

const QUIET: PlantedFault = {
  description: 'No fault: ten minutes under load',
  expected: [],
  needs: { standbys: 2, tls: true },
  watchSeconds: QUIET_SECONDS,
  plant: async () => ({}),
}

export const PLANTED_FAULTS = { ...SERVICE_FAULTS, ...DATABASE_FAULTS, ...DATE_FAULTS, quiet: QUIET }

export type PlantedFaultName = keyof typeof PLANTED_FAULTS

export const PLANTED_FAULT_NAMES = Object.keys(PLANTED_FAULTS) as PlantedFaultName[]

export const faultOf = (name: PlantedFaultName): PlantedFault => PLANTED_FAULTS[name]
