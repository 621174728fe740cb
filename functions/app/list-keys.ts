import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { listKeys } from '../../lib/api/app.ts';
import { listApiKeys } from '../../lib/apps/manage-apps.ts';
import { toApiKeyRecord } from '../../lib/apps/to-api-key-record.ts';

// Reads the app from the table: the cached one can be 15 seconds old.
export const handler = createHandler(listKeys, () => ({ apps: apps() }))(async ({ app }, { apps }) => ({
  rows: (await listApiKeys(apps, app.name)).map(toApiKeyRecord),
}));
