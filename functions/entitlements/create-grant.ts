import { createHandler } from '../../composition/endpoint.ts';
import { grants } from '../../composition/entitlements.ts';
import { now } from '../../composition/environment.ts';
import { createGrant as contract } from '../../lib/api/entitlements.ts';
import { createGrant } from '../../lib/entitlements/manage-grants.ts';
import { toGrantRecord } from '../../lib/entitlements/to-records.ts';
import { createReply } from '../../lib/http/reply.ts';

export const handler = createHandler(contract, () => ({ grants: grants(), now }))(
  async ({ app, key, params: { applicationUsername }, body }, deps) => {
    const context = { appName: app.name, username: applicationUsername, key, deps };
    const { grant, isNew } = await createGrant(body, context);
    return createReply({
      status: isNew ? 201 : 200,
      body: { applicationUsername, ...toGrantRecord(grant, deps.now()) },
    });
  },
);
