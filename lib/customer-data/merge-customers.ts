import { createHash } from 'node:crypto';
import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import type { Merge, MergeRepository } from '../customers/merge-repository.ts';
import { listGrants, moveGrant } from '../entitlements/grant-table.ts';
import type { Service } from '../foundation/service.ts';

import { type ErasedNames, listComputedNames } from '../purchases/erased-names.ts';
import { computeClaimMove, computeClaimReturn } from '../purchases/move-claim.ts';
import type { PurchaseChange, StoredPurchase } from '../purchases/purchase-change.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import type { RecordPurchase } from '../purchases/record-purchase.ts';
import type { UserAliasRepository } from '../purchases/user-alias-repository.ts';
import { normalizeAlias } from '../purchases/user-aliases.ts';
import { ServiceError } from '../shared/errors.ts';
import { retryOnConflict } from '../shared/retry.ts';
import type { CustomerDataRepository } from './customer-data-repository.ts';

export interface MergeDeps extends Pick<Service, 'table' | 'now'> {
  readonly customerData: Pick<CustomerDataRepository, 'scanOwnPurchaseIds' | 'listSavedAliases'>;
  readonly erasedNames: ErasedNames;
  readonly merges: MergeRepository;
  readonly purchases: Pick<PurchaseRepository, 'load' | 'saveChange'>;
  readonly recordPurchase: RecordPurchase;
  readonly userAliases: Pick<UserAliasRepository, 'listUnclaimedPurchases'>;
}

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
  /** Whether everything is moved. Otherwise, repeat the request. */
  readonly isComplete: boolean;
}

/** Purchases of one request, so that it ends before the timeout of the gateway. */
const maxMovedPurchases = 250;
const concurrency = 25;

/**
 * Moves the claims, aliases and grants of one customer to another one, such as of an anonymous customer who has signed
 * in. Each claim moves with its purchase in one transaction, so a crash leaves nothing half moved: a repeated call
 * continues. A later claim of the merged customer is its own until the next call. Moves nothing of an erased customer.
 * Throws `InvalidPayload` if both names are equal.
 */
export async function mergeCustomers(
  app: Pick<App, 'name' | 'strategy'>,
  { from, to, key }: MergeInput,
  deps: MergeDeps,
  maxPurchases = maxMovedPurchases,
): Promise<MergeResult> {
  if (from === to) throw new ServiceError('InvalidPayload', 'from: expected another customer.');
  const mergeId = toMergeId(from);
  const erased = await deps.erasedNames.select(app.name, [...listComputedNames(from), ...listComputedNames(to)]);
  if (erased.some((name) => listComputedNames(from).includes(name)))
    return { mergeId, purchases: 0, aliases: 0, grants: 0, isComplete: true };
  // The customer has returned: see `omitErasedNames`.
  if (erased.length > 0) await deps.erasedNames.remove(app.name, listComputedNames(to));
  const merge = await openMerge(app.name, { from, to, key, mergeId }, deps);
  const context = { app, merge, deps };
  for (const alias of merge.aliases) await deps.merges.moveAlias(app.name, alias, merge);
  const grants = await moveGrants(context, from, to);
  const unclaimed = await claimUnclaimed(context, maxPurchases);
  const moved = await movePurchases(context, maxPurchases);
  const isComplete = unclaimed.isComplete && moved.isComplete;
  if (isComplete) await deps.merges.save(app.name, { ...merge, completedAt: deps.now() });
  return { mergeId, purchases: unclaimed.count + moved.count, aliases: merge.aliases.length, grants, isComplete };
}

/** A customer is merged once into another one: a repeated request continues the same merge. */
const toMergeId = (from: string): string => `merge_${createHash('sha256').update(from).digest('hex').slice(0, 24)}`;

/** Stores the merge before it moves anything, so that whatever was moved can be returned. */
async function openMerge(
  appName: string,
  { from, to, key, mergeId }: MergeInput & { readonly mergeId: string },
  { customerData, merges, now }: MergeDeps,
): Promise<Merge> {
  const existing = await merges.find(appName, to, mergeId);
  const names = [...listComputedNames(from), ...(await customerData.listSavedAliases(appName, from))];
  const known = existing?.reversedAt === undefined ? (existing?.aliases ?? []) : [];
  const aliases = [...new Set([...known, ...names.map(normalizeAlias)])].sort();
  const isContinued = existing !== undefined && existing.reversedAt === undefined;
  const merge: Merge = {
    mergeId,
    from,
    to,
    startedAt: isContinued ? existing.startedAt : now(),
    mergedBy: isContinued ? existing.mergedBy : { id: key.id, name: key.name },
    aliases,
    ...(isContinued && existing.completedAt !== undefined && { completedAt: existing.completedAt }),
  };
  await merges.save(appName, merge);
  return merge;
}

interface MergeContext {
  readonly app: Pick<App, 'name' | 'strategy'>;
  readonly merge: Merge;
  readonly deps: MergeDeps;
}

async function moveGrants({ app, merge, deps }: MergeContext, from: string, to: string): Promise<number> {
  const { mergeId } = merge;
  let count = 0;
  for (const { grantId } of await listGrants(deps, app.name, from)) {
    count += await retryOnConflict(async () => {
      const grant = (await listGrants(deps, app.name, from)).find((candidate) => candidate.grantId === grantId);
      if (!grant || grant.movedAt !== undefined) return 0;
      if (await moveGrant(deps, app.name, grant, { to, mergeId, now: deps.now() })) return 1;
      throw new ServiceError('Conflict', 'The grant was changed by a concurrent request. Try again.');
    });
  }
  return count;
}

/** Claims the purchases that wait for the merged customer under one of the aliases. */
async function claimUnclaimed({ app, merge, deps }: MergeContext, maxPurchases: number) {
  const { mergeId, to: username } = merge;
  let count = 0;
  for (const alias of merge.aliases) {
    const ids = await deps.userAliases.listUnclaimedPurchases(app.name, [alias], maxPurchases - count);
    for (const purchaseId of ids) {
      const claim = { username, source: 'alias' } as const;
      const update = { trigger: 'link', claim, mergeId, strategy: app.strategy, now: deps.now() } as const;
      if ((await deps.recordPurchase(app.name, purchaseId, update))?.change) count += 1;
    }
    if (count >= maxPurchases) return { count, isComplete: false };
  }
  return { count, isComplete: true };
}

async function movePurchases({ app, merge, deps }: MergeContext, maxPurchases: number) {
  const { mergeId, from, to } = merge;
  const checked = new Set<string>();
  let count = 0;
  for await (const ids of deps.customerData.scanOwnPurchaseIds(app.name, from)) {
    const fresh = [...new Set(ids)].filter((id) => !checked.has(id)).slice(0, maxPurchases - count);
    for (const id of fresh) checked.add(id);
    const changes = await pMap(
      fresh,
      async (purchaseId) =>
        await changePurchase(app.name, purchaseId, deps, (before) =>
          computeClaimMove(before, { mergeId, from, to, strategy: app.strategy, now: deps.now() }),
        ),
      { concurrency },
    );
    count += changes.filter(Boolean).length;
    if (count >= maxPurchases) return { count, isComplete: false };
  }
  return { count, isComplete: true };
}

/** Returns whether there was something to change. */
const changePurchase = async (
  appName: string,
  purchaseId: string,
  { purchases }: Pick<MergeDeps, 'purchases'>,
  compute: (before: StoredPurchase) => PurchaseChange | undefined,
): Promise<boolean> =>
  await retryOnConflict(async () => {
    const before = await purchases.load(appName, purchaseId);
    const change = before && compute(before);
    if (change) await purchases.saveChange(appName, change);
    return change !== undefined;
  });

/**
 * Returns what a merge has moved, from its log. What has changed since stays with the customer who received it.
 * Idempotent: a repeated call continues. Throws `ResourceNotFound` for an unknown merge.
 */
export async function reverseMerge(
  app: Pick<App, 'name' | 'strategy'>,
  { to, mergeId, key }: { readonly to: string; readonly mergeId: string; readonly key: Merge['mergedBy'] },
  deps: MergeDeps,
  maxPurchases = maxMovedPurchases,
): Promise<MergeResult> {
  const merge = await deps.merges.find(app.name, to, mergeId);
  if (!merge) throw new ServiceError('ResourceNotFound', `No merge ${mergeId} into this customer is found.`);
  const now = deps.now();
  for (const alias of merge.aliases) await deps.merges.returnAlias(app.name, alias, merge);
  const grants = await returnGrants({ app, merge, deps });
  const moved = await deps.merges.listMovedClaims(app.name, merge, maxPurchases);
  // One after the other: a purchase can have moved twice, and its latest move is returned first.
  let purchases = 0;
  for (const entry of moved) {
    const compute = (before: StoredPurchase) =>
      computeClaimReturn(before, entry, { strategy: app.strategy, now: deps.now() });
    if (await changePurchase(app.name, entry.purchaseId, deps, compute)) purchases += 1;
    await deps.merges.deleteMovedClaim(app.name, merge, entry);
  }
  const isComplete = moved.length < maxPurchases;
  if (isComplete)
    await deps.merges.save(app.name, { ...merge, reversedAt: now, reversedBy: { id: key.id, name: key.name } });
  return { mergeId, purchases, aliases: merge.aliases.length, grants, isComplete };
}

async function returnGrants({ app, merge, deps }: MergeContext): Promise<number> {
  const { mergeId, from, to } = merge;
  const originals = await listGrants(deps, app.name, from);
  let count = 0;
  for (const original of originals.filter(({ movedBy }) => movedBy?.mergeId === mergeId)) {
    count += await retryOnConflict(async () => {
      const grants = await listGrants(deps, app.name, to);
      const grant = grants.find(({ grantId }) => grantId === original.movedBy?.grantId);
      if (!grant || grant.movedAt !== undefined) return 0;
      const returned = { ...grant, movedBy: { mergeId, grantId: original.grantId } };
      if (await moveGrant(deps, app.name, returned, { to: from, mergeId, now: deps.now() })) return 1;
      throw new ServiceError('Conflict', 'The grant was changed by a concurrent request. Try again.');
    });
  }
  return count;
}
