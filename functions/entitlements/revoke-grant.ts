import { createHandler } from '../../composition/endpoint.ts';
import { grants } from '../../composition/entitlements.ts';
import { now } from '../../composition/environment.ts';
import { revokeGrant as contract } from '../../lib/api/entitlements.ts';
import { revokeGrant } from '../../lib/entitlements/manage-grants.ts';
import { toGrantRecord } from '../../lib/entitlements/to-records.ts';

export const handler = createHandler(contract, () => ({ grants: grants(), now }))(
  async ({ app, key, params: { applicationUsername, grantId } }, deps) => {
    const context = { appName: app.name, username: applicationUsername, key, deps };
    const grant = await revokeGrant(grantId, context);
    return { applicationUsername, ...toGrantRecord(grant, deps.now()) };
  },
);
