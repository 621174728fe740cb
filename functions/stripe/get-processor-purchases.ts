import { checkoutDeps } from '../../composition/checkout.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { getProcessorPurchases } from '../../lib/api/stripe.ts';
import { listPurchasesByAccessToken, listPurchasesByUser } from '../../lib/checkout/list-checkout-purchases.ts';
import { ServiceError } from '../../lib/shared/errors.ts';

export const handler = createHandler(
  getProcessorPurchases,
  checkoutDeps,
)(async ({ app, key, query, recorder }, deps) => {
  const { accessToken, applicationUsername } = query;
  if (accessToken !== undefined)
    return { ok: true, ...(await listPurchasesByAccessToken(accessToken, { app, recorder, deps })) };
  // Spec: not shown. Without a token, the request requires the secret key or a viewer key, and `applicationUsername`.
  if (applicationUsername === undefined || key.level === 'public') {
    throw new ServiceError('InvalidPayload', 'accessToken: expected the token of the checkout.');
  }
  return { ok: true, purchases: await listPurchasesByUser(applicationUsername, { app, recorder, deps }) };
});
