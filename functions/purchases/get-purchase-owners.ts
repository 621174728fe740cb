import { toIso } from '../../lib/foundation/time.ts';
import { toNeutralId } from '../../lib/foundation/vocabulary.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getPurchaseOwners } from '../../lib/purchases/contract.ts';
import { isUnpaid } from '../../lib/purchases/purchase.ts';
import { findPurchaseFacts, listClaims, requirePurchase } from '../../lib/purchases/purchase-table.ts';
import { findUserOfAlias } from '../../lib/purchases/user-alias-table.ts';

/** A purchase has one or two aliases. Each costs up to two reads. */
const maxAliases = 10;

export const handler = createHandler(getPurchaseOwners)(async ({ app, params, recorder }, service) => {
  const purchaseId = toNeutralId(params.purchaseId);
  const [facts, claims] = await Promise.all([
    findPurchaseFacts(service, app.name, purchaseId),
    listClaims(service, app.name, purchaseId),
  ]);
  requirePurchase(facts);
  recorder.addTag(purchaseId, '_P');
  const userAliases = facts.userAliases.slice(0, maxAliases).map(async (alias) => {
    const applicationUsername = await findUserOfAlias(service, app.name, alias);
    return { alias, ...(applicationUsername !== undefined && { applicationUsername }) };
  });
  const isLinked = claims.some(({ source }) => source === 'manual');
  return {
    purchaseId,
    strategy: app.strategy,
    decidedBy: isUnpaid(facts.purchase) ? 'unpaid' : isLinked ? 'manual' : 'strategy',
    entitledUsers: [...facts.entitledUsers],
    claims: claims
      .toSorted((a, b) => a.firstClaimedAt - b.firstClaimedAt)
      .map(({ username, source, firstClaimedAt, lastClaimedAt }) => ({
        applicationUsername: username,
        isEntitled: facts.entitledUsers.includes(username),
        source,
        firstClaimedAt: toIso(firstClaimedAt),
        lastClaimedAt: toIso(lastClaimedAt),
      })),
    userAliases: await Promise.all(userAliases),
  };
});
