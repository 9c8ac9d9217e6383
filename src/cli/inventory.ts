// `petstore inventory`: calls a running service to count its pets by status.
import type { Command } from 'commander'
import { printItems, toJson } from './terminal/output.ts'
import { addRemoteOptions, callService, type RemoteOptions } from './terminal/remote.ts'
import { print } from './terminal/terminal.ts'

export function addInventory(program: Command): void {
  const inventory = program
    .command('inventory')
    .description('show the number of pets in each status')
    .action((options: RemoteOptions) =>
      callService(options, async ({ store, call }) => {
        const counts = await store.inventory(call)
        if (options.json) return print(toJson(counts))
        const rows = Object.entries(counts).map(([status, count]) => ({ status, count: String(count) }))
        const widest = Math.max(...rows.map(({ count }) => count.length), 'PETS'.length)
        await printItems(rows, false, {
          headings: ['STATUS', 'PETS'],
          toRow: ({ status, count }) => [status, count.padStart(widest)],
        })
      }),
    )
  addRemoteOptions(inventory, ['petstore inventory', 'petstore inventory --json'], {
    json: 'print the response as JSON',
  })
}
