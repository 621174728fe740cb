import { createPortal } from '../../lib/api/stripe.ts';
import { createPortalSession } from '../../lib/checkout/create-portal-session.ts';
import { checkoutProviders } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(
  createPortal,
  checkoutProviders,
)(async ({ app, body, recorder }, deps) => ({
  ok: true,
  url: await createPortalSession(body, { app, recorder, deps }),
}));
