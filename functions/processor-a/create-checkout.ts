import { createCheckout } from '../../lib/api/processor-a.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { checkOut } from '../../lib/processor-a/checkout.ts';

export const handler = endpoint(createCheckout)(async ({ app, body, event }, deps) => {
  if (body.applicationUsername !== undefined) event.user(body.applicationUsername);
  return { ok: true, ...(await checkOut(body, { app, event, deps })) };
});
