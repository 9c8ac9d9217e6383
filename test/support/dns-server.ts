// A DNS server on loopback that returns the addresses that a test chooses. It supports A and AAAA queries over UDP.
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

const HEADER_BYTES = 12
const TYPE_A = 1
const TYPE_AAAA = 28
const NAME_NOT_FOUND = 3
const TIMEOUT_MS = 60_000

export interface DnsServer {
  /**
   * Asks only this server, and does not repeat a query because the host is busy: tests count the queries. Use a new one for
   * each lookup: after a few queries, a resolver derives its timeout from their duration instead of using the given one.
   */
  newResolver: () => Resolver
  /** The queries so far, such as `A shop.example`. */
  queries: string[]
  stop(): Promise<void>
}

/** `addressesOf` gets the number of earlier queries of the name with this type. It returns undefined for an unknown name. */
export async function startDnsServer(
  addressesOf: (name: string, earlier: number) => readonly string[] | undefined,
): Promise<DnsServer> {
  const server = createSocket('udp4')
  const queries: string[] = []
  server.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query)
    const key = `${type === TYPE_A ? 'A' : 'AAAA'} ${name}`
    const addresses = addressesOf(name, queries.filter((earlier) => earlier === key).length)
    queries.push(key)
    const ofType = addresses?.filter((text) => isIPv4(text) === (type === TYPE_A))
    server.send(respond(query.subarray(0, end), type, ofType), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    newResolver: () => {
      const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
      resolver.setServers([`127.0.0.1:${server.address().port}`])
      return resolver
    },
    queries,
    async stop() {
      server.close()
      await once(server, 'close')
    },
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const type = query.readUInt16BE(at + 1)
  if (type !== TYPE_A && type !== TYPE_AAAA) throw new RangeError(`query of type ${type}`)
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 }
}

function respond(question: Buffer, type: number, addresses: readonly string[] | undefined): Buffer {
  const response = Buffer.from(question)
  // A response, recursive, with one question and no other records except the addresses.
  response.writeUInt16BE(0x8180 + (addresses === undefined ? NAME_NOT_FOUND : 0), 2)
  response.writeUInt16BE(addresses?.length ?? 0, 6)
  response.writeUInt32BE(0, 8)
  return Buffer.concat([response, ...(addresses ?? []).map((text) => addressRecord(type, text))])
}

function addressRecord(type: number, text: string): Buffer {
  const bytes = Buffer.from(ipaddr.parse(text).toByteArray())
  const record = Buffer.alloc(HEADER_BYTES)
  // The name is that of the question. The record expires at once.
  record.writeUInt16BE(0xc000 + HEADER_BYTES, 0)
  record.writeUInt16BE(type, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(0, 6)
  record.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([record, bytes])
}
