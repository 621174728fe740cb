import { createHandler } from '../../composition/endpoint.ts';
import { apiVersion, getVersion } from '../../lib/api/service.ts';

export const handler = createHandler(getVersion, () => ({}))(async () => ({
  ok: true,
  name: 'claimcheck',
  version: apiVersion,
}));
