import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Id } from './identifiers.ts';

export const repeatWebhook = defineContract({
  id: 'repeat-webhook',
  area: 'notifier',
  summary: 'Calls the application’s webhook again with the result of a past request',
  method: 'POST',
  path: '/v3/notifier/app-webhooks',
  aliases: ['/v3/notifier/app-webhook'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'webhook.repeated',
  // Spec: the request id of an event. We also take an event's own id and the id of a notification.
  body: v.object({ reqId: Id }),
  // Spec: not shown.
  response: v.strictObject({ ok: v.literal(true) }),
  permissions: ['write', 'webhooks'],
});
