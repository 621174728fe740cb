import type * as v from 'valibot';
import type { App } from '../apps/app.ts';
import type { Service } from '../foundation/service.ts';
import { toIso } from '../foundation/time.ts';
import type { getPurchaseOwners } from './contract.ts';
import { isUnpaid } from './purchase.ts';
import { findPurchaseFacts, listClaims, requirePurchase } from './purchase-table.ts';
import { findUserOfAlias } from './user-alias-table.ts';

/** A purchase has one or two aliases. Each costs up to two reads. */
const maxAliases = 10;

/** Reads who owns a purchase, who has claimed it, and what decides. Throws `ResourceNotFound` for an unknown one. */
export async function readPurchaseOwners(
  service: Service,
  app: App,
  purchaseId: string,
): Promise<v.InferInput<typeof getPurchaseOwners.response>> {
  const [facts, claims] = await Promise.all([
    findPurchaseFacts(service, app.name, purchaseId),
    listClaims(service, app.name, purchaseId),
  ]);
  requirePurchase(facts);
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
}
