import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import { forgetCreditOwner } from '../credits/move-credits.ts';
import { selectExistingCustomers } from '../customers/customer-table.ts';
import { deleteVaultReference } from '../customers/vault-reference-table.ts';
import { splitIntoChunks } from '../foundation/batches.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { Service } from '../foundation/service.ts';
import { secondMs } from '../foundation/time.ts';
import { retryOnConflict } from '../foundation/updates.ts';
import { computeUserErasure } from '../purchases/erase-user.ts';
import { addErasedNames, listComputedNames } from '../purchases/erased-name-table.ts';
import { findPurchaseForChange, findRefreshState, savePurchaseChange } from '../purchases/purchase-table.ts';
import { isMd5, normalizeAlias } from '../purchases/user-aliases.ts';
import {
  deleteAccessTokens,
  deleteAlias,
  deleteCustomer,
  deleteCustomerDeliveries,
  deleteMerges,
  deleteOrphanedClaims,
  deleteUnclaimedLink,
  eraseFromEvents,
  findAliasUser,
  listAliasesOfPurchases,
  listSavedAliases,
  listUnclaimedByAlias,
  scanLinkedPurchaseIds,
} from './customer-data-table.ts';
import { hasUsername } from './has-username.ts';

/** Numbers of removed items, and of purchases and events from which the user was removed. */
export interface ErasureCounts {
  readonly purchases: number;
  readonly aliases: number;
  readonly unclaimedPurchases: number;
  readonly vaultReferences: number;
  readonly accessTokens: number;
  readonly deliveries: number;
  readonly events: number;
  /** The customer with the links to its purchases and transactions. */
  readonly customerItems: number;
}

interface EraseOptions {
  readonly wait: (ms: number) => Promise<void>;
  /** Time between two passes. Defaults to `eventSettleMs`. */
  readonly waitMs?: number;
  /** Receives a sentence about the progress. */
  readonly onProgress?: (text: string) => void;
  /** Receives the counts so far after each step, so that the caller has them if the erasure fails. */
  readonly onRemoved?: (counts: ErasureCounts) => void;
}

/**
 * Time after which no function works with data that it read before a pass: the timeout of the workers, 60 s, and the
 * TTL of the app cache, 15 s. Index entries are complete much earlier.
 */
export const eventSettleMs = 75 * secondMs;

/** A user who still uses the app is stored again by every validation. */
const maxPasses = 5;

/** Number of purchases that are changed concurrently. */
const concurrency = 8;
const batchSize = 100;

/**
 * Erases a user from all items of the app. Purchases, transactions and statistics stay, without the user. Idempotent;
 * after a crash, the next run completes the erasure. Repeats the pass after `eventSettleMs` until there is nothing to
 * remove, because requests and workers can be writing data of the user. Throws `Conflict` if five passes were not
 * enough. See docs/decisions/erasure.md.
 */
export async function eraseCustomer(
  service: Service,
  app: App,
  username: string,
  { wait, waitMs = eventSettleMs, onProgress = () => {}, onRemoved = () => {} }: EraseOptions,
): Promise<ErasureCounts> {
  let total = noCounts;
  const count = (counts: Partial<ErasureCounts>): void => {
    total = addCounts(total, { ...noCounts, ...counts });
    onRemoved(total);
  };
  for (let pass = 1; pass <= maxPasses; pass++) {
    onProgress(`Pass ${pass}: searching`);
    const before = sumCounts(total);
    await runPass({ app, username, service, onProgress, count });
    if (sumCounts(total) === before) return total;
    onProgress(`Pass ${pass}: removed. Waiting ${Math.ceil(waitMs / secondMs)} s for requests in progress`);
    await wait(waitMs);
  }
  throw new ServiceError(
    'Conflict',
    'The user is still using the app. Run the command again when the app has stopped.',
  );
}

const noCounts: ErasureCounts = {
  purchases: 0,
  aliases: 0,
  unclaimedPurchases: 0,
  vaultReferences: 0,
  accessTokens: 0,
  deliveries: 0,
  events: 0,
  customerItems: 0,
};

const addCounts = (a: ErasureCounts, b: ErasureCounts): ErasureCounts =>
  Object.fromEntries(
    Object.entries(a).map(([kind, count]) => [kind, count + b[kind as keyof ErasureCounts]]),
  ) as unknown as ErasureCounts;

const sumCounts = (counts: ErasureCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

interface ErasureContext {
  readonly app: App;
  readonly username: string;
  readonly service: Service;
  readonly onProgress: (text: string) => void;
  /** Counts what was removed. */
  readonly count: (counts: Partial<ErasureCounts>) => void;
}

/**
 * Removes the user once. An item that leads to other items is removed after them: the names are marked first, the
 * aliases of purchases lead to unclaimed purchases, the claims and links lead to purchases, and the tags lead to
 * events.
 */
async function runPass(context: ErasureContext): Promise<void> {
  const { app, username, service, onProgress, count } = context;
  const purchaseIds = await findPurchaseIds(context);
  const aliases = await findAliases(context, purchaseIds);
  await addErasedNames(service, app.name, [...aliases]);
  await eraseUnclaimedPurchases(context, aliases);
  let checked = 0;
  for (const batch of splitIntoChunks(purchaseIds, batchSize)) {
    await pMap(
      batch,
      async (id) => {
        if (await erasePurchase(context, id, aliases)) count({ purchases: 1 });
        await forgetCreditOwner(service, app.name, id, username);
      },
      { concurrency },
    );
    checked += batch.length;
    onProgress(`${checked} of ${purchaseIds.length} purchases`);
  }
  await deleteOrphanedClaims(service, app.name, username, (purchases) => count({ purchases }));
  await deleteCustomerDeliveries(service, app.name, username, (deliveries) => count({ deliveries }));
  await deleteMerges(service, app.name, username, (customerItems) => count({ customerItems }));
  await deleteAccessTokens(service, app.name, username, (accessTokens) => count({ accessTokens }));
  onProgress('Events');
  await eraseFromEvents(service, app.name, username, (events) => count({ events }));
  await deleteCustomer(service, app.name, username, (customerItems) => count({ customerItems }));
}

async function findPurchaseIds({ app, username, service }: ErasureContext): Promise<string[]> {
  const ids = new Set<string>();
  for await (const batch of scanLinkedPurchaseIds(service, app.name, username)) for (const id of batch) ids.add(id);
  return [...ids];
}

/**
 * Returns the normalized names of the user: the username, its MD5, the saved aliases and the other aliases of the
 * purchases.
 */
async function findAliases(
  { app, username, service }: ErasureContext,
  purchaseIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const saved = await listSavedAliases(service, app.name, username);
  const names = new Set([...listComputedNames(username), ...saved].map(normalizeAlias));
  const checked = new Set(names);
  for (const batch of splitIntoChunks(purchaseIds, batchSize)) {
    for (const alias of await listAliasesOfPurchases(service, app.name, batch)) {
      const name = normalizeAlias(alias);
      if (checked.has(name)) continue;
      checked.add(name);
      if (!(await belongsToOther(alias, { app, username, service }))) names.add(name);
    }
  }
  return names;
}

async function belongsToOther(
  alias: string,
  { app, username, service }: Pick<ErasureContext, 'app' | 'username' | 'service'>,
): Promise<boolean> {
  const owner = await findAliasUser(service, app.name, alias);
  if (owner !== undefined) return owner !== username;
  return !isMd5(alias) && (await selectExistingCustomers(service, app.name, [alias])).length > 0;
}

/** Removes the aliases from the purchases that are filed under them, then the saved aliases. */
async function eraseUnclaimedPurchases(context: ErasureContext, aliases: ReadonlySet<string>): Promise<void> {
  const { app, username, service, count } = context;
  for (const alias of aliases) {
    const unclaimedIds = await listUnclaimedByAlias(service, app.name, alias);
    await pMap(
      unclaimedIds,
      async (purchaseId) => {
        await erasePurchase(context, purchaseId, aliases);
        count({ unclaimedPurchases: 1 });
        // The change has deleted the link, unless the purchase does not have the alias any longer.
        await deleteUnclaimedLink(service, app.name, alias, purchaseId);
      },
      { concurrency },
    );
    if (await deleteAlias(service, app.name, alias, username)) count({ aliases: 1 });
  }
}

/**
 * Removes the user from one purchase. Also removes and counts the vault reference of a purchase that no other customer
 * has claimed. Returns whether the purchase has changed.
 */
async function erasePurchase(
  { app, username, service, count }: ErasureContext,
  purchaseId: string,
  aliases: ReadonlySet<string>,
): Promise<boolean> {
  return await retryOnConflict(async () => {
    const before = await findPurchaseForChange(service, app.name, purchaseId);
    if (!before) return false;
    const { refreshToken = {} } = (await findRefreshState(service, app.name, purchaseId)) ?? {};
    const { customerId } = refreshToken;
    const isShared = before.claims.some((claim) => claim.username !== username);
    const hadReference =
      customerId !== undefined && !isShared && (await deleteVaultReference(service, app.name, customerId));
    if (hadReference) count({ vaultReferences: 1 });
    const change = computeUserErasure(before, {
      username,
      aliases,
      removesRefreshToken: hasUsername(refreshToken, aliases),
      strategy: app.strategy,
      now: service.now(),
    });
    if (change) await savePurchaseChange(service, app.name, change);
    return change !== undefined;
  });
}
