import { createPortal } from '../../lib/checkout/contract.ts';
import { createPortalSession } from '../../lib/checkout/create-portal-session.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(createPortal)(async ({ app, body, recorder }, service) => ({
  ok: true,
  url: await createPortalSession({ app, recorder, service }, body),
}));
