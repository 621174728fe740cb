import { revokeGrant } from '../../lib/entitlements/contract.ts';
import { toGrantRecord } from '../../lib/entitlements/grant.ts';
import { endGrant } from '../../lib/entitlements/manage-grants.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(revokeGrant)(
  async ({ app, key, recorder: { eventId }, params: { applicationUsername, grantId } }, service) => {
    const grant = await endGrant(service, grantId, {
      appName: app.name,
      username: applicationUsername,
      key,
      eventId,
    });
    return { applicationUsername, ...toGrantRecord(grant, service.now()) };
  },
);
