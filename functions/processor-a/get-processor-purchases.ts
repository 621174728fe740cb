import { getProcessorPurchases } from '../../lib/api/processor-a.ts';
import { isValidApiKey } from '../../lib/apps/api-keys.ts';
import { listPurchasesByAccessToken, listPurchasesByUser } from '../../lib/checkout/list-checkout-purchases.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { ServiceError } from '../../lib/shared/errors.ts';

export const handler = createHandler(getProcessorPurchases)(async ({ app, apiKey, query, recorder }, deps) => {
  const { accessToken, applicationUsername } = query;
  if (accessToken !== undefined)
    return { ok: true, ...(await listPurchasesByAccessToken(accessToken, { app, recorder, deps })) };
  // Spec: not shown. In the place of a token the API key must be the secret one, and the call names the user.
  if (applicationUsername === undefined || !isValidApiKey(apiKey, app.secretKeys, deps.now())) {
    throw new ServiceError('InvalidPayload', 'accessToken: expected the token that came with the checkout.');
  }
  return { ok: true, purchases: await listPurchasesByUser(applicationUsername, { app, recorder, deps }) };
});
