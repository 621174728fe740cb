import { toCursorPage } from '../../lib/api/paging.ts';
import { getCustomerClaims } from '../../lib/customers/claim-contract.ts';
import { listCustomerClaims } from '../../lib/customers/customer-claim-table.ts';
import { toIso } from '../../lib/foundation/time.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(getCustomerClaims)(async ({ app, params, query }, service) => {
  const { applicationUsername } = params;
  const { limit = 50, cursor, isEntitled } = query;
  const selected = isEntitled === undefined ? {} : { isEntitled: isEntitled === 'true' };
  const page = { ...selected, limit, cursor };
  const { rows, next } = await listCustomerClaims(service, app.name, applicationUsername, page);
  const claims = rows.map(({ claim: { source, firstClaimedAt, lastClaimedAt }, purchase, isEntitled }) => ({
    purchaseId: purchase.purchaseId,
    productId: purchase.productId,
    platform: purchase.platform,
    isEntitled,
    source,
    firstClaimedAt: toIso(firstClaimedAt),
    lastClaimedAt: toIso(lastClaimedAt),
  }));
  return { applicationUsername, ...toCursorPage(claims, next) };
});
