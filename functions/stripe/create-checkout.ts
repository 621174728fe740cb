import { checkoutDeps } from '../../composition/checkout.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { createCheckout } from '../../lib/api/stripe.ts';
import { createCheckoutSession } from '../../lib/checkout/create-checkout-session.ts';

export const handler = createHandler(
  createCheckout,
  checkoutDeps,
)(async ({ app, body, recorder }, deps) => {
  if (body.applicationUsername !== undefined) recorder.setUser(body.applicationUsername);
  return { ok: true, ...(await createCheckoutSession(body, { app, recorder, deps })) };
});
