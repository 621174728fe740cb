import { createCheckout } from '../../lib/checkout/contract.ts';
import { createCheckoutSession } from '../../lib/checkout/create-checkout-session.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(createCheckout)(async ({ app, body, recorder }, service) => {
  if (body.applicationUsername !== undefined) recorder.setUser(body.applicationUsername);
  return { ok: true, ...(await createCheckoutSession({ app, recorder, service }, body)) };
});
