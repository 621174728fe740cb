import { setWebhook } from '../../lib/apps/contract.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { hourMs } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { rotateSigningSecret, saveWebhook } from '../../lib/webhooks/manage-webhooks.ts';

export const handler = createHandler(setWebhook)(async ({ app, body }, service) => {
  const { urls, newSecret, rotateSecret, overlapHours, ...settings } = body;
  const overlapMs = newSecret ? 0 : overlapHours * hourMs;
  if (!urls && !rotateSecret) throw new ServiceError('InvalidPayload', 'urls: missing; only rotateSecret needs none.');
  const signingSecret = urls
    ? await saveWebhook(service, app.name, { urls, ...settings }, { newSecret: newSecret || rotateSecret, overlapMs })
    : await rotateSigningSecret(service, app.name, overlapMs);
  return { ok: true, ...(signingSecret !== undefined && { signingSecret }) };
});
