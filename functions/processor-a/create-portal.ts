import { createPortal } from '../../lib/api/processor-a.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createPortalSession } from '../../lib/checkout/create-portal-session.ts';

export const handler = createHandler(createPortal)(async ({ app, body, recorder: event }, deps) => ({
  ok: true,
  url: await createPortalSession(body, { app, recorder: event, deps }),
}));
