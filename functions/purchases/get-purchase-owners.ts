import { createHandler } from '../../composition/endpoint.ts';
import { purchases } from '../../composition/purchases.ts';
import { table } from '../../composition/table.ts';
import { getPurchaseOwners } from '../../lib/api/purchases.ts';
import { createUserAliasRepository } from '../../lib/db/user-alias-repository.ts';
import { isUnpaid } from '../../lib/purchases/purchase.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import type { EpochMillis } from '../../lib/shared/time.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

const toIso = (date: EpochMillis): string => new Date(date).toISOString();
/** A purchase has one or two aliases. Each costs up to two reads. */
const maxAliases = 10;

export const handler = createHandler(getPurchaseOwners, () => ({
  purchases: purchases(),
  userAliases: createUserAliasRepository(table()),
}))(async ({ app, params, recorder }, deps) => {
  const purchaseId = toNeutralId(params.purchaseId);
  const [facts, claims] = await Promise.all([
    deps.purchases.findFacts(app.name, purchaseId),
    deps.purchases.listClaims(app.name, purchaseId),
  ]);
  if (!facts) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
  recorder.addTag(purchaseId, '_P');
  const userAliases = facts.userAliases.slice(0, maxAliases).map(async (alias) => {
    const applicationUsername = await deps.userAliases.findUser(app.name, alias);
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
