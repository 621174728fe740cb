import { givesEntitlement } from '../../lib/apps/catalogue.ts';
import { findCachedCatalogue } from '../../lib/apps/catalogue-table.ts';
import { createGrant } from '../../lib/entitlements/contract.ts';
import { toGrantRecord } from '../../lib/entitlements/grant.ts';
import { addGrant } from '../../lib/entitlements/manage-grants.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { createReply } from '../../lib/http/response.ts';

const unknownEntitlement = 'No product of the catalogue gives this entitlement.';

export const handler = createHandler(createGrant)(
  async ({ app, key, recorder: { eventId }, params: { applicationUsername }, body }, service) => {
    const context = { appName: app.name, username: applicationUsername, key, eventId };
    const { grant, isNew } = await addGrant(service, body, context);
    const isGiven = givesEntitlement(await findCachedCatalogue(service, app.name), grant.entitlement);
    return createReply({
      status: isNew ? 201 : 200,
      body: {
        applicationUsername: grant.username,
        ...toGrantRecord(grant, service.now()),
        ...(!isGiven && { warning: unknownEntitlement }),
      },
    });
  },
);
