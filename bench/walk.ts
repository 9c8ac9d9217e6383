// Pages deep into the list like a client: follows the Link header of each page to the next page.
import { Agent, get } from 'node:http'
import { say } from '../src/cli/terminal.ts'
import { median } from './tools.ts'

const DEEP_PAGE = 50_000
const COMPARED = 1_000

export interface Walk {
  pages: number
  seconds: number
  firstPageMs: number
  deepPageMs: number
  /** Speed of the deep page relative to the first page: 1 means that both are equally fast. */
  deepByFirst: number
}

export async function measureWalk(origin: string, apiKey: string): Promise<Walk> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const startedAt = performance.now()
  let deep = '/v1/pets?limit=20'
  let pages = 1
  for (; pages < DEEP_PAGE; pages += 1) {
    const { next } = await getPage(agent, origin + deep, apiKey)
    if (next === undefined) break
    deep = next
    if (pages % 10_000 === 0) say(`  page ${pages.toLocaleString('en')}`)
  }
  const seconds = (performance.now() - startedAt) / 1000
  // Alternates between the first and the deep page, so that other load on the machine affects both.
  const [first, last]: [number[], number[]] = [[], []]
  for (let round = 0; round < COMPARED; round += 1) {
    first.push((await getPage(agent, `${origin}/v1/pets?limit=20`, apiKey)).tookMs)
    last.push((await getPage(agent, origin + deep, apiKey)).tookMs)
  }
  agent.destroy()
  const [firstPageMs, deepPageMs] = [median(first), median(last)]
  return { pages, seconds, firstPageMs, deepPageMs, deepByFirst: firstPageMs / deepPageMs }
}

function getPage(
  agent: Agent,
  url: string,
  apiKey: string,
): Promise<{ next: string | undefined; tookMs: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ next: string | undefined; tookMs: number }>()
  const startedAt = performance.now()
  get(url, { agent, headers: { authorization: `Bearer ${apiKey}` } }, (response) => {
    response.resume().on('end', () =>
      resolve({
        next: /<([^>]+)>; rel="next"/.exec(String(response.headers.link))?.[1],
        tookMs: performance.now() - startedAt,
      }),
    )
  }).on('error', reject)
  return promise
}
