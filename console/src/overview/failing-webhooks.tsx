// The webhooks that fail, so that a person notices it without opening their page.
import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { AnchorLink } from '../layout/anchor-link.tsx'
import { counted } from '../layout/counted.ts'
import { useScopes, useStore } from '../session/session.ts'
import { isFailing, nameOf } from '../webhooks/health.ts'
import { webhooksQuery } from '../webhooks/queries.ts'

export function FailingWebhooks() {
  const enabled = useScopes().has('webhooks:read')
  const { data: webhooks = [] } = useQuery({ ...webhooksQuery(useStore()), enabled })
  const failing = webhooks.filter(isFailing)
  if (failing.length === 0) return null
  const verb = failing.length === 1 ? 'does' : 'do'
  return (
    <Alert color="red" role="status" title={`${counted(failing.length, 'webhook')} ${verb} not work`}>
      {failing.map((webhook, index) => (
        <Fragment key={webhook.id}>
          {index > 0 && ', '}
          <AnchorLink to="/webhooks/$webhookId" params={{ webhookId: webhook.id }} inherit underline="always">
            {nameOf(webhook)}
          </AnchorLink>
        </Fragment>
      ))}
    </Alert>
  )
}
