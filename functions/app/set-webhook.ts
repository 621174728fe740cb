import { setWebhook as contract } from '../../lib/apps/contract.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { setWebhook } from '../../lib/webhooks/manage-webhooks.ts';

export const handler = createHandler(contract)(async ({ app, body: { newSecret, ...settings } }, service) => {
  const signingSecret = await setWebhook(app.name, settings, { newSecret, service });
  return { ok: true, ...(signingSecret !== undefined && { signingSecret }) };
});
