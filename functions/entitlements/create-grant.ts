import { appCache } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { grants } from '../../composition/entitlements.ts';
import { now } from '../../composition/environment.ts';
import { createGrant as contract } from '../../lib/api/entitlements.ts';
import { createGrant } from '../../lib/entitlements/manage-grants.ts';
import { toGrantRecord } from '../../lib/entitlements/to-records.ts';
import { createReply } from '../../lib/http/reply.ts';
import { givesEntitlement } from '../../lib/purchases/catalogue.ts';

const unknownEntitlement = 'No product of the catalogue gives this entitlement.';

export const handler = createHandler(contract, () => ({ grants: grants(), appCache: appCache(), now }))(
  async ({ app, key, params: { applicationUsername }, body }, deps) => {
    const context = { appName: app.name, username: applicationUsername, key, deps };
    const { grant, isNew } = await createGrant(body, context);
    const isGiven = givesEntitlement(await deps.appCache.findCatalogue(app.name), grant.entitlement);
    return createReply({
      status: isNew ? 201 : 200,
      body: {
        applicationUsername,
        ...toGrantRecord(grant, deps.now()),
        ...(!isGiven && { warning: unknownEntitlement }),
      },
    });
  },
);
