import { checkoutDeps } from '../../composition/checkout.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { entitlementDeps } from '../../composition/entitlements.ts';
import { authorizeReader } from '../../lib/checkout/authorize-reader.ts';
import { getCustomerEntitlements } from '../../lib/entitlements/contract.ts';
import { toEntitlementRecords } from '../../lib/entitlements/entitlements.ts';
import { readEntitlements } from '../../lib/entitlements/read-entitlements.ts';
import { toIsoSeconds } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(
  getCustomerEntitlements,
  entitlementDeps,
)(async ({ app, key, params, query, recorder }, deps) => {
  const { applicationUsername } = params;
  await authorizeReader(query.accessToken, { key, username: applicationUsername }, () => ({
    app,
    recorder,
    deps: checkoutDeps(),
  }));
  const entitlements = await readEntitlements(app, applicationUsername, deps);
  return {
    applicationUsername,
    entitlements: toEntitlementRecords(entitlements),
    asOf: toIsoSeconds(deps.now()),
  };
});
