import { toPagesAdvice } from '../../lib/api/limits.ts';
import { getProcessorPurchases } from '../../lib/checkout/contract.ts';
import { listPurchasesByAccessToken, listPurchasesByUser } from '../../lib/checkout/list-checkout-purchases.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createReply } from '../../lib/http/response.ts';

export const handler = createHandler(getProcessorPurchases)(async ({ app, key, query, recorder }, service) => {
  const { accessToken, applicationUsername } = query;
  if (accessToken !== undefined)
    return createReply({
      body: { ok: true, ...(await listPurchasesByAccessToken({ app, recorder, service }, accessToken)) },
      sizeAdvice: toPagesAdvice(),
    });
  // Spec: not shown. Without a token, the request requires the secret key or a viewer key, and `applicationUsername`.
  if (applicationUsername === undefined || key.level === 'public') {
    throw new ServiceError('InvalidPayload', 'accessToken: expected the token of the checkout.');
  }
  return createReply({
    body: { ok: true, purchases: await listPurchasesByUser({ app, recorder, service }, applicationUsername) },
    sizeAdvice: toPagesAdvice(applicationUsername),
  });
});
