// After a sequence: everything that can be asked, on both instances, and what the database itself says.
import { auditStore } from '../../support/store-audit.ts'
import { walk } from './commands/lists.ts'
import { countsOf } from './reference/store.ts'
import { type Asking, ask, passSecond, requireSame, type World } from './world.ts'

export async function compareWholeState(world: World): Promise<void> {
  // What was believed for a second is so no more.
  passSecond(world)
  for (const at of [0, 1] as const) {
    const counter: Asking = { at, as: 'counter' }
    await walk(world, counter, { of: 'pets' }, undefined)
    await walk(world, counter, { of: 'orders' }, undefined)
    await walk(world, counter, { of: 'categories' }, undefined)
    await ask(
      world,
      counter,
      { operation: 'getInventory', scope: 'pets:read', method: 'GET', path: '/store/inventory' },
      () => ({ status: 200, body: countsOf(world.store.pets.values()) }),
    )
  }
  await walk(world, { at: 0, as: 'counter' }, { of: 'apiKeys' }, undefined)
  for (const petId of world.store.pets.keys()) {
    await walk(world, { at: petId % 2 === 0 ? 0 : 1, as: 'counter' }, { of: 'history', petId }, 100)
  }
  world.calls.push('the audit of the database')
  requireSame('finding of the audit', await auditStore(world.query), [])
}
