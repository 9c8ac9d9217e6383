// One attempt: what was sent, what came back, what to do, and the other attempts of the message.
import { Alert, Button, Code, Stack, Text, Title } from '@mantine/core'
import type { Delivery } from '@petstore/client'
import type { ReactNode } from 'react'
import { Dialog, DialogFoot } from '../layout/dialog.tsx'
import { exactText } from '../layout/when-text.ts'
import { typeLabel } from './event-types.ts'
import { OutcomeBadge } from './outcome-badge.tsx'
import { explain, nextTryText, resultText } from './result-text.ts'

interface Props {
  delivery: Delivery
  now: number
  /** The attempts of the same message in the list, newest first. */
  attempts: Delivery[]
  onSendAgain: ((delivery: Delivery) => void) | undefined
  /** Sends all that have failed since a time. */
  onSendSince: ((from: number) => void) | undefined
  onClose: () => void
}

export function DeliveryDialog({ delivery, now, attempts, onClose, ...actions }: Props) {
  const { onSendAgain, onSendSince } = actions
  const { type, petId, messageId, position, at } = delivery
  const explanation = explain(delivery)
  const nextTry = nextTryText(delivery, now)
  return (
    <Dialog title={typeLabel(type)} onClose={onClose} isWide>
      <Stack>
        {explanation && (
          <Alert color={delivery.outcome === 'skipped' ? 'gray' : 'red'} title={explanation.what}>
            {explanation.advice}
          </Alert>
        )}
        <Part title="Request">
          <Fact name="Type" value={type} isCode />
          {petId !== undefined && <Fact name="Pet" value={`No. ${petId}`} />}
          <Fact name="webhook-id" value={messageId} isCode />
          {position !== undefined && <Fact name="Position" value={position} isCode />}
        </Part>
        <Part title="Response">
          <Fact name="Result" value={resultText(delivery)} />
          <Fact name="When" value={exactText(at)} />
          {nextTry !== undefined && <Fact name="Next try" value={nextTry} />}
        </Part>
        <section aria-labelledby="attempts">
          <Title order={3} size="h6" id="attempts" mb={4}>
            Attempts of this message in the list
          </Title>
          <ol className="plain-list">
            {attempts.map((one) => (
              <li key={one.id} className="attempt">
                <OutcomeBadge outcome={one.outcome} />
                <Text size="sm">{resultText(one)}</Text>
                <Text size="xs" c="dimmed">
                  {exactText(one.at)}
                </Text>
              </li>
            ))}
          </ol>
        </section>
        <DialogFoot>
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          {onSendSince && explanation && delivery.outcome !== 'skipped' && (
            <Button
              variant="default"
              aria-haspopup="dialog"
              onClick={() => {
                onClose()
                onSendSince(Date.parse(at))
              }}
            >
              Send all failed since this
            </Button>
          )}
          {onSendAgain && (
            <Button
              onClick={() => {
                onSendAgain(delivery)
                onClose()
              }}
            >
              Send again
            </Button>
          )}
        </DialogFoot>
      </Stack>
    </Dialog>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      <dl className="fact-list">{children}</dl>
    </section>
  )
}

function Fact({ name, value, isCode = false }: { name: string; value: string; isCode?: boolean }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{isCode ? <Code>{value}</Code> : value}</dd>
    </>
  )
}
