import { changeGrant as contract } from '../../lib/entitlements/contract.ts';
import { toGrantRecord } from '../../lib/entitlements/grant.ts';
import { changeGrant } from '../../lib/entitlements/manage-grants.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(contract)(
  async ({ app, key, recorder: { eventId }, params: { applicationUsername, grantId }, body }, service) => {
    const context = { appName: app.name, username: applicationUsername, key, eventId };
    const grant = await changeGrant(service, grantId, body.until ?? undefined, context);
    return { applicationUsername, ...toGrantRecord(grant, service.now()) };
  },
);
