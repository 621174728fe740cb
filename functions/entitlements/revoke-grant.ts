import { createHandler } from '../../composition/endpoint.ts';
import { service } from '../../composition/service.ts';
import { revokeGrant as contract } from '../../lib/entitlements/contract.ts';
import { toGrantRecord } from '../../lib/entitlements/grant.ts';
import { revokeGrant } from '../../lib/entitlements/manage-grants.ts';

export const handler = createHandler(
  contract,
  service,
)(async ({ app, key, params: { applicationUsername, grantId } }, service) => {
  const grant = await revokeGrant(service, grantId, { appName: app.name, username: applicationUsername, key });
  return { applicationUsername, ...toGrantRecord(grant, service.now()) };
});
