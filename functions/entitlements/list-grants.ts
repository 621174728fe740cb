import { listGrants } from '../../lib/entitlements/contract.ts';
import { toGrantRecord } from '../../lib/entitlements/grant.ts';
import { listStoredGrants } from '../../lib/entitlements/grant-table.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(listGrants)(async ({ app, params: { applicationUsername } }, service) => {
  const rows = await listStoredGrants(service, app.name, applicationUsername);
  return { applicationUsername, rows: rows.map((grant) => toGrantRecord(grant, service.now())) };
});
