import { getProcessorPurchases } from '../../lib/api/processor-a.ts';
import { matchesKey } from '../../lib/apps/keys.ts';
import { ServiceError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { purchasesOfBuyer, purchasesOfUser } from '../../lib/processor-a/buyer-purchases.ts';

export const handler = endpoint(getProcessorPurchases)(async ({ app, apiKey, query, event }, deps) => {
  const { accessToken, applicationUsername } = query;
  if (accessToken !== undefined) return { ok: true, ...(await purchasesOfBuyer(accessToken, { app, event, deps })) };
  // Spec: not shown. In the place of a token the API key must be the secret one, and the call names the user.
  if (applicationUsername === undefined || !matchesKey(apiKey, app.secretKeys, deps.now())) {
    throw new ServiceError('InvalidPayload', 'accessToken: expected the token that came with the checkout.');
  }
  return { ok: true, purchases: await purchasesOfUser(applicationUsername, { app, event, deps }) };
});
