import { apiVersion, getVersion } from '../../lib/api/service.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getVersion)(async () => ({
  ok: true,
  name: 'claimcheck',
  version: apiVersion,
}));
