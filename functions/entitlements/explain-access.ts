import { createHandler } from '../../composition/endpoint.ts';
import { entitlementDeps } from '../../composition/entitlements.ts';
import { purchases } from '../../composition/purchases.ts';
import { erasedNames } from '../../composition/record-purchase.ts';
import { table } from '../../composition/table.ts';
import { createCustomerClaimRepository } from '../../lib/db/customer-claim-repository.ts';
import { createMergeRepository } from '../../lib/db/merge-repository.ts';
import { explainAccess as contract } from '../../lib/entitlements/contract.ts';
import { explainAccess } from '../../lib/entitlements/explain-access.ts';
import { toIsoSeconds } from '../../lib/purchases/to-records.ts';
import { ServiceError } from '../../lib/shared/errors.ts';

const maxClaims = 100;

export const handler = createHandler(contract, () => {
  const claims = createCustomerClaimRepository(table());
  return {
    ...entitlementDeps(),
    erasedNames: erasedNames(),
    merges: createMergeRepository(table()),
    listAnnouncements: purchases().listNotifications,
    listClaims: async (appName: string, username: string) =>
      (await claims.list(appName, username, { limit: maxClaims })).rows,
  };
})(async ({ app, params: { applicationUsername }, query: { entitlement, productId } }, deps) => {
  if ((entitlement === undefined) === (productId === undefined))
    throw new ServiceError('InvalidPayload', 'Expected either entitlement or productId.');
  const question = entitlement === undefined ? { productId: productId ?? '' } : { entitlement };
  const { isActive, because, next } = await explainAccess(app, applicationUsername, question, deps);
  return {
    applicationUsername,
    ...question,
    isActive,
    because: because.map(({ at, ...fact }) => ({ ...fact, at: at === undefined ? null : toIsoSeconds(at) })),
    next: next ? { ...next, at: toIsoSeconds(next.at) } : null,
    asOf: toIsoSeconds(deps.now()),
  };
});
