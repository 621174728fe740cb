import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import { moveCredits, returnMovedCredits } from '../credits/move-credits.ts';
import { type Merge, toMergeId } from '../customers/merge.ts';
import {
  deleteMovedClaim,
  findMerge,
  listMerges,
  listMovedClaims,
  markMerges,
  moveAlias,
  returnAlias,
  saveMerge,
} from '../customers/merge-table.ts';
import { listStoredGrants, moveGrant } from '../entitlements/grant-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { Service } from '../foundation/service.ts';
import { retryOnConflict } from '../foundation/updates.ts';
import { listComputedNames, removeErasedNames, selectErasedNames } from '../purchases/erased-name-table.ts';
import { computeClaimMove, computeClaimReturn } from '../purchases/move-claim.ts';
import type { PurchaseChange } from '../purchases/purchase-change.ts';
import { findPurchaseForChange, savePurchaseChange } from '../purchases/purchase-table.ts';
import { recordPurchase } from '../purchases/record-purchase.ts';
import type { StoredPurchase } from '../purchases/stored-purchase.ts';
import { findUserOfAlias, listUnclaimedPurchases } from '../purchases/user-alias-table.ts';
import { normalizeAlias } from '../purchases/user-aliases.ts';
import { listSavedAliases, scanOwnPurchaseIds } from './customer-data-table.ts';

interface MergeInput {
  readonly from: string;
  readonly to: string;
  /** The API key of the request. */
  readonly key: Merge['mergedBy'];
}

/** What one request has moved or returned. */
export interface MergeResult {
  readonly mergeId: string;
  readonly purchases: number;
  readonly aliases: number;
  readonly grants: number;
  /** If false, repeat the request to move the rest. */
  readonly isComplete: boolean;
}

/** Purchases of one request, so that it ends before the timeout of the gateway. */
const maxMovedPurchases = 250;
const concurrency = 25;

/**
 * Moves the claims, aliases and grants of one customer to another one, such as of an anonymous customer who has signed
 * in. Each claim moves with its purchase in one transaction, so a crash leaves nothing half moved: a repeated call
 * continues. Later validations under the merged name belong to the other customer: see `resolveMergedName`. Moves
 * nothing of an erased customer. Throws `InvalidPayload` if both names are equal.
 */
export async function mergeCustomers(
  service: Service,
  app: Pick<App, 'name' | 'strategy'>,
  { from, to, key }: MergeInput,
  maxPurchases = maxMovedPurchases,
): Promise<MergeResult> {
  if (from === to) throw new ServiceError('InvalidPayload', 'from: expected another customer.');
  const mergeId = toMergeId(from);
  const erased = await selectErasedNames(service, app.name, [...listComputedNames(from), ...listComputedNames(to)]);
  if (erased.some((name) => listComputedNames(from).includes(name)))
    return { mergeId, purchases: 0, aliases: 0, grants: 0, isComplete: true };
  // The customer has returned: see `omitErasedNames`.
  if (erased.length > 0) await removeErasedNames(service, app.name, listComputedNames(to));
  const merge = await openMerge(service, app.name, { from, to, key, mergeId });
  const context = { app, merge, service };
  await markMerges(service, app.name);
  for (const alias of merge.aliases) await moveAlias(service, app.name, alias, merge);
  await moveCredits(service, app.name, merge);
  const grants = await moveGrants(context, from, to);
  const unclaimed = await claimUnclaimed(context, maxPurchases);
  const moved = await movePurchases(context, maxPurchases);
  const isComplete = unclaimed.isComplete && moved.isComplete;
  if (isComplete) await saveMerge(service, app.name, { ...merge, completedAt: service.now() });
  return { mergeId, purchases: unclaimed.count + moved.count, aliases: merge.aliases.length, grants, isComplete };
}

/** Stores the merge before it moves anything, so that whatever was moved can be returned. */
async function openMerge(
  service: Service,
  appName: string,
  { from, to, key, mergeId }: MergeInput & { readonly mergeId: string },
): Promise<Merge> {
  const existing = await findMerge(service, appName, to, mergeId);
  const names = [...listComputedNames(from), ...(await listSavedAliases(service, appName, from))];
  const known = existing?.reversedAt === undefined ? (existing?.aliases ?? []) : [];
  const aliases = [...new Set([...known, ...names.map(normalizeAlias)])].sort();
  const isContinued = existing !== undefined && existing.reversedAt === undefined;
  const merge: Merge = {
    mergeId,
    from,
    to,
    startedAt: isContinued ? existing.startedAt : service.now(),
    mergedBy: isContinued ? existing.mergedBy : { id: key.id, name: key.name },
    aliases,
    ...(isContinued && existing.completedAt !== undefined && { completedAt: existing.completedAt }),
  };
  await saveMerge(service, appName, merge);
  return merge;
}

interface MergeContext {
  readonly app: Pick<App, 'name' | 'strategy'>;
  readonly merge: Merge;
  readonly service: Service;
}

async function moveGrants({ app, merge, service }: MergeContext, from: string, to: string): Promise<number> {
  const { mergeId } = merge;
  let count = 0;
  for (const { grantId } of await listStoredGrants(service, app.name, from)) {
    count += await retryOnConflict(async () => {
      const grant = (await listStoredGrants(service, app.name, from)).find(
        (candidate) => candidate.grantId === grantId,
      );
      if (!grant || grant.movedAt !== undefined) return 0;
      if (await moveGrant(service, app.name, grant, { to, mergeId, now: service.now() })) return 1;
      throw new ServiceError('Conflict', 'The grant was changed by a concurrent request. Try again.');
    });
  }
  return count;
}

/** Claims the purchases that wait for the merged customer under an alias, which now identifies the other one. */
async function claimUnclaimed({ app, merge, service }: MergeContext, maxPurchases: number) {
  const { mergeId, to: username } = merge;
  let count = 0;
  for (const alias of merge.aliases) {
    if ((await findUserOfAlias(service, app.name, alias)) !== username) continue;
    const limit = maxPurchases - count;
    const ids = await listUnclaimedPurchases(service, app.name, [alias], limit);
    for (const purchaseId of ids) {
      const claim = { username, source: 'alias' } as const;
      const update = { trigger: 'link', claim, mergeId, strategy: app.strategy, now: service.now() } as const;
      if ((await recordPurchase(service, app.name, purchaseId, update))?.change) count += 1;
    }
    // Even if a concurrent request has claimed some: the alias can have more.
    if (ids.length === limit) return { count, isComplete: false };
  }
  return { count, isComplete: true };
}

async function movePurchases({ app, merge, service }: MergeContext, maxPurchases: number) {
  const { mergeId, from, to } = merge;
  const checked = new Set<string>();
  let count = 0;
  for await (const ids of scanOwnPurchaseIds(service, app.name, from)) {
    const remaining = [...new Set(ids)].filter((id) => !checked.has(id));
    for (const id of remaining) checked.add(id);
    // In parts, because a concurrent request can have moved some.
    while (remaining.length > 0) {
      const changes = await pMap(
        remaining.splice(0, maxPurchases - count),
        async (purchaseId) =>
          await changePurchase(service, app.name, purchaseId, (before) =>
            computeClaimMove(before, { mergeId, from, to, strategy: app.strategy, now: service.now() }),
          ),
        { concurrency },
      );
      count += changes.filter(Boolean).length;
      if (count >= maxPurchases) return { count, isComplete: false };
    }
  }
  return { count, isComplete: true };
}

/** Returns false if there was nothing to change. */
const changePurchase = async (
  service: Service,
  appName: string,
  purchaseId: string,
  compute: (before: StoredPurchase) => PurchaseChange | undefined,
): Promise<boolean> =>
  await retryOnConflict(async () => {
    const before = await findPurchaseForChange(service, appName, purchaseId);
    const change = before && compute(before);
    if (change) await savePurchaseChange(service, appName, change);
    return change !== undefined;
  });

/**
 * Returns what a merge has moved, from its log. What has changed since stays with the customer who received it.
 * Idempotent: a repeated call continues. Throws `ResourceNotFound` for an unknown merge.
 */
export async function reverseMerge(
  service: Service,
  app: Pick<App, 'name' | 'strategy'>,
  { to, mergeId, key }: { readonly to: string; readonly mergeId: string; readonly key: Merge['mergedBy'] },
  maxPurchases = maxMovedPurchases,
): Promise<MergeResult> {
  const merge = await findMerge(service, app.name, to, mergeId);
  if (!merge) throw new ServiceError('ResourceNotFound', `No merge ${mergeId} into this customer is found.`);
  const now = service.now();
  const earlier = (await listMerges(service, app.name, merge.from)).filter(
    ({ reversedAt }) => reversedAt === undefined,
  );
  for (const alias of merge.aliases) {
    const isMerged = earlier.some(({ aliases }) => aliases.includes(alias));
    await returnAlias(service, app.name, alias, { ...merge, isMerged });
  }
  await returnMovedCredits(service, app.name, merge);
  const grants = await returnGrants({ app, merge, service });
  const moved = await listMovedClaims(service, app.name, merge, maxPurchases);
  // One after the other: a purchase can have moved twice, and its latest move is returned first.
  let purchases = 0;
  for (const entry of moved) {
    const compute = (before: StoredPurchase) =>
      computeClaimReturn(before, entry, { strategy: app.strategy, now: service.now() });
    if (await changePurchase(service, app.name, entry.purchaseId, compute)) purchases += 1;
    await deleteMovedClaim(service, app.name, merge, entry);
  }
  const isComplete = moved.length < maxPurchases;
  if (isComplete)
    await saveMerge(service, app.name, { ...merge, reversedAt: now, reversedBy: { id: key.id, name: key.name } });
  return { mergeId, purchases, aliases: merge.aliases.length, grants, isComplete };
}

async function returnGrants({ app, merge, service }: MergeContext): Promise<number> {
  const { mergeId, from, to } = merge;
  const originals = await listStoredGrants(service, app.name, from);
  let count = 0;
  for (const original of originals.filter(({ movedBy }) => movedBy?.mergeId === mergeId)) {
    count += await retryOnConflict(async () => {
      const grants = await listStoredGrants(service, app.name, to);
      const grant = grants.find(({ grantId }) => grantId === original.movedBy?.grantId);
      if (!grant || grant.movedAt !== undefined) return 0;
      const returned = { ...grant, movedBy: { mergeId, grantId: original.grantId } };
      if (await moveGrant(service, app.name, returned, { to: from, mergeId, now: service.now() })) return 1;
      throw new ServiceError('Conflict', 'The grant was changed by a concurrent request. Try again.');
    });
  }
  return count;
}
