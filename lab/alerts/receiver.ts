// An HTTP server that records what Alertmanager sends to an operator, and gets the webhooks of the store.
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { openLocalServer } from '../parts/local-server.ts'

/** The path of the store's webhook. Everything else is a notification of Alertmanager. */
const WEBHOOK_PATH = '/hook'

export interface Notification {
  alert: string
  status: 'firing' | 'resolved'
  /** The receiver of alertmanager.yaml: page or ticket. */
  receiver: string
  /** When it arrived, in milliseconds since 1970. */
  at: number
}

export interface Receiver {
  origin: string
  webhookUrl: string
  notifications: Notification[]
  /** Chooses the status of the responses to webhooks. Default: 204. */
  setWebhookStatus: (status: number) => void
  close: () => Promise<void>
}

export async function openReceiver(): Promise<Receiver> {
  const notifications: Notification[] = []
  let webhookStatus = 204
  const { origin, close } = await openLocalServer((request, response) => {
    receive(request).then(
      (status) => response.writeHead(status).end(),
      // The client disconnected, or sent no JSON.
      () => response.destroy(),
    )
  })

  async function receive(request: IncomingMessage): Promise<number> {
    const body = await text(request)
    if (request.url === WEBHOOK_PATH) return webhookStatus
    notifications.push(...readNotifications(body))
    return 204
  }

  return {
    origin,
    webhookUrl: origin + WEBHOOK_PATH,
    notifications,
    setWebhookStatus: (status) => {
      webhookStatus = status
    },
    close,
  }
}

interface Message {
  receiver: string
  alerts: { status: Notification['status']; labels: { alertname: string } }[]
}

/** One message has all alerts of a group. A group that is sent again repeats those that still fire. */
function readNotifications(body: string): Notification[] {
  const { receiver, alerts } = JSON.parse(body) as Message
  return alerts.map(({ status, labels }) => ({
    alert: labels.alertname,
    status,
    receiver,
    at: Date.now(),
  }))
}
