import { createCheckout } from '../../lib/api/processor-a.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createCheckoutSession } from '../../lib/checkout/create-checkout-session.ts';

export const handler = createHandler(createCheckout)(async ({ app, body, recorder: event }, deps) => {
  if (body.applicationUsername !== undefined) event.setUser(body.applicationUsername);
  return { ok: true, ...(await createCheckoutSession(body, { app, recorder: event, deps })) };
});
