import { changeGrant } from '../../lib/entitlements/contract.ts';
import { toGrantRecord } from '../../lib/entitlements/grant.ts';
import { changeGrantEnd } from '../../lib/entitlements/manage-grants.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(changeGrant)(
  async ({ app, key, recorder: { eventId }, params: { applicationUsername, grantId }, body }, service) => {
    const context = { appName: app.name, username: applicationUsername, key, eventId };
    const grant = await changeGrantEnd(service, grantId, body.until ?? undefined, context);
    return { applicationUsername, ...toGrantRecord(grant, service.now()) };
  },
);
