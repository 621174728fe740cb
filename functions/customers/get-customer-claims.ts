import { createHandler } from '../../composition/endpoint.ts';
import { table } from '../../composition/table.ts';
import { getCustomerClaims } from '../../lib/api/customers.ts';
import { toCursorPage } from '../../lib/api/paging.ts';
import { createCustomerClaimRepository } from '../../lib/db/customer-claim-repository.ts';

export const handler = createHandler(getCustomerClaims, () => ({
  customerClaims: createCustomerClaimRepository(table()),
}))(async ({ app, params, query }, { customerClaims }) => {
  const { applicationUsername } = params;
  const { limit = 50, cursor, isEntitled } = query;
  const selected = isEntitled === undefined ? {} : { isEntitled: isEntitled === 'true' };
  const page = { ...selected, limit, cursor };
  const { rows, next } = await customerClaims.list(app.name, applicationUsername, page);
  const claims = rows.map(({ claim: { source, firstClaimedAt, lastClaimedAt }, purchase, isEntitled }) => ({
    purchaseId: purchase.purchaseId,
    productId: purchase.productId,
    platform: purchase.platform,
    isEntitled,
    source,
    firstClaimedAt: new Date(firstClaimedAt).toISOString(),
    lastClaimedAt: new Date(lastClaimedAt).toISOString(),
  }));
  return { applicationUsername, ...toCursorPage(claims, next) };
});
