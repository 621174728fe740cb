import { authorizeReader } from '../../lib/checkout/list-checkout-purchases.ts';
import { getCustomerEntitlements } from '../../lib/entitlements/contract.ts';
import { toEntitlementRecords } from '../../lib/entitlements/entitlements.ts';
import { readEntitlements } from '../../lib/entitlements/read-entitlements.ts';
import { toIsoSeconds } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getCustomerEntitlements)(
  async ({ app, key, params, query, recorder }, service) => {
    const { applicationUsername } = params;
    await authorizeReader({ app, recorder, service }, query.accessToken, { key, username: applicationUsername });
    const entitlements = await readEntitlements(service, app, applicationUsername);
    return {
      applicationUsername,
      entitlements: toEntitlementRecords(entitlements),
      asOf: toIsoSeconds(service.now()),
    };
  },
);
