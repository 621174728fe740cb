import { createPortal } from '../../lib/api/processor-a.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { openPortal } from '../../lib/processor-a/portal.ts';

export const handler = endpoint(createPortal)(async ({ app, body, event }, deps) => ({
  ok: true,
  url: await openPortal(body, { app, event, deps }),
}));
