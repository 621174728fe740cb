import { revokeKey } from '../../lib/apps/api-key-contract.ts';
import { revokeApiKey } from '../../lib/apps/manage-apps.ts';
import { toApiKeyRecord } from '../../lib/apps/to-api-key-record.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(revokeKey)(async ({ app, params }, service) => ({
  ok: true,
  revoked: toApiKeyRecord(await revokeApiKey(service, app.name, params.keyId)),
}));
