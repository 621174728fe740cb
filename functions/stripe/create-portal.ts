import { checkoutDeps } from '../../composition/checkout.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { createPortal } from '../../lib/api/stripe.ts';
import { createPortalSession } from '../../lib/checkout/create-portal-session.ts';

export const handler = createHandler(
  createPortal,
  checkoutDeps,
)(async ({ app, body, recorder }, deps) => ({
  ok: true,
  url: await createPortalSession(body, { app, recorder, deps }),
}));
