import { apiVersion, getVersion } from '../../lib/api/service.ts';
import { createOpenHandler } from '../../lib/http/open-endpoint.ts';

export const handler = createOpenHandler(getVersion)(async () => ({
  ok: true,
  name: 'claimcheck',
  version: apiVersion,
}));
