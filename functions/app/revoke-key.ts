import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { revokeKey } from '../../lib/api/app.ts';
import { revokeApiKey } from '../../lib/apps/manage-apps.ts';
import { toApiKeyRecord } from '../../lib/apps/to-api-key-record.ts';

export const handler = createHandler(revokeKey, () => ({ apps: apps() }))(async ({ app, params }, { apps }) => ({
  ok: true,
  revoked: toApiKeyRecord(await revokeApiKey(apps, app.name, params.keyId)),
}));
