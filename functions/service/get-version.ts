import { getVersion } from '../../lib/api/service.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

// Spec: not shown. Clients compare it with 3.12.0 to choose their calls, so it is the version of the interface.
const version = '3.12.0';

export const handler = createHandler(getVersion)(async () => ({ ok: true, name: 'claimcheck', version }));
