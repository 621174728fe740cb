import { listKeys } from '../../lib/apps/api-key-contract.ts';
import { listApiKeys } from '../../lib/apps/manage-apps.ts';
import { toApiKeyRecord } from '../../lib/apps/to-api-key-record.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

// Reads the app from the table: the cached one can be 15 seconds old.
export const handler = createHandler(listKeys)(async ({ app }, service) => ({
  rows: (await listApiKeys(service, app.name)).map(toApiKeyRecord),
}));
