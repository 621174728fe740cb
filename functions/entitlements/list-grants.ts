import { createHandler } from '../../composition/endpoint.ts';
import { grants } from '../../composition/entitlements.ts';
import { now } from '../../composition/environment.ts';
import { listGrants } from '../../lib/api/entitlements.ts';
import { toGrantRecord } from '../../lib/entitlements/to-records.ts';

export const handler = createHandler(listGrants, () => ({ grants: grants(), now }))(
  async ({ app, params: { applicationUsername } }, deps) => {
    const rows = await deps.grants.list(app.name, applicationUsername);
    return { applicationUsername, rows: rows.map((grant) => toGrantRecord(grant, deps.now())) };
  },
);
