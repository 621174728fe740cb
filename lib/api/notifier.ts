import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Id } from './identifiers.ts';

export const repeatWebhook = defineContract({
  id: 'repeat-webhook',
  area: 'notifier',
  summary: 'Send the webhook of a past request again',
  method: 'POST',
  path: '/v3/notifier/app-webhooks',
  aliases: ['/v3/notifier/app-webhook'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'webhook.repeated',
  // Spec: the request id of an event. The id of the event and the id of a notification are accepted, too.
  body: v.object({ reqId: Id }),
  // Spec: not shown.
  response: v.strictObject({ ok: v.literal(true) }),
  permissions: ['write', 'webhooks'],
});
