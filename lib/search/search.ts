import type { SearchResult } from '../api/search.ts';
import type { App } from '../apps/app.ts';
import type { CustomerRepository } from '../customers/customer-repository.ts';
import type { EventRepository } from '../events/event-repository.ts';
import type { Purchase } from '../purchases/purchase.ts';
import type { PurchaseRepository } from '../purchases/purchase-repository.ts';
import { toPurchaseDetails, toTransactionRecord } from '../purchases/to-records.ts';
import type { TransactionRepository } from '../purchases/transaction-repository.ts';
import type { UserAliasRepository } from '../purchases/user-alias-repository.ts';
import { platforms, withPlatform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';
import { toNeutralId } from '../shared/vocabulary.ts';
import type { DeliveryRepository } from '../webhooks/delivery-repository.ts';

/** What `search` needs. */
interface SearchDeps {
  now(): EpochMillis;
  readonly customers: CustomerRepository;
  readonly deliveries: DeliveryRepository;
  readonly events: EventRepository;
  readonly purchases: PurchaseRepository;
  readonly transactions: TransactionRepository;
  readonly userAliases: UserAliasRepository;
}

/** Maximum number of purchases of one store account. */
const maxAccountPurchases = 20;
/** Maximum number of customers whose names begin with the text. */
const maxNames = 20;

/**
 * Finds the customers whose names begin with the text, and what has exactly this name or id: purchases, transactions,
 * an event, a delivery. Ignores the case of names, and of ids if the exact one is not found.
 */
export async function search(app: App, q: string, deps: SearchDeps): Promise<SearchResult[]> {
  const exact = await findExact(app, q, deps);
  if (exact.some(({ type }) => type !== 'customer')) return exact;
  const variants = [...new Set([q.toUpperCase(), q.toLowerCase()])].filter((variant) => variant !== q);
  const results = await Promise.all(
    variants.flatMap((variant) => [findPurchases(app, variant, deps), findTransactions(app, variant, deps)]),
  );
  return [...exact, ...results.flat()];
}

async function findExact(app: App, q: string, deps: SearchDeps): Promise<SearchResult[]> {
  const results = await Promise.all([
    findCustomers(app, q, deps),
    findPurchases(app, q, deps),
    findTransactions(app, q, deps),
    findEvent(app, q, deps),
    findDelivery(app, q, deps),
  ]);
  return results.flat();
}

async function findCustomers(
  { name }: App,
  q: string,
  { customers, userAliases }: Pick<SearchDeps, 'customers' | 'userAliases'>,
) {
  const [named, aliased, prefixed] = await Promise.all([
    customers.findMany(name, [q]),
    userAliases.findUser(name, q),
    customers.findNames(name, q, maxNames),
  ]);
  const matches = [
    ...named.map(({ username }) => [username, 'name'] as const),
    ...(aliased === undefined ? [] : [[aliased, 'alias'] as const]),
    ...prefixed.map((username) => [username, 'prefix'] as const),
  ];
  // The first match of a customer is the closest one.
  const closest = new Map(matches.toReversed());
  return [...new Set(matches.map(([username]) => username))].map(
    (username) =>
      ({ type: 'customer', applicationUsername: username, match: closest.get(username) ?? 'prefix' }) as const,
  );
}

/** Returns the id as it is, or with the prefix of each platform if it has none. */
function listPrefixedIds(q: string): string[] {
  const id = toNeutralId(q);
  const isPrefixed = platforms.some((platform) => id.startsWith(`${platform}:`));
  return isPrefixed ? [id] : platforms.map((platform) => withPlatform(platform, id));
}

async function findPurchases(
  { name }: App,
  q: string,
  { purchases, userAliases, now }: Pick<SearchDeps, 'purchases' | 'userAliases' | 'now'>,
) {
  const [unclaimedIds, accountIds] = await Promise.all([
    userAliases.listUnclaimedPurchases(name, [q], maxAccountPurchases),
    purchases.listIdsByStoreAccount(name, q, maxAccountPurchases),
  ]);
  const ids = new Set(listPrefixedIds(q));
  const found = await purchases.findMany(name, [...ids, ...unclaimedIds, ...accountIds]);
  const chooseMatch = ({ purchaseId }: Purchase) => {
    if (ids.has(purchaseId)) return 'purchaseId';
    return accountIds.includes(purchaseId) ? 'appTransactionId' : 'alias';
  };
  return found.map(
    ({ purchase, entitledUsers }) =>
      ({
        type: 'purchase',
        match: chooseMatch(purchase),
        purchase: toPurchaseDetails(purchase, entitledUsers, { now: now() }),
      }) as const,
  );
}

async function findTransactions({ name }: App, q: string, { transactions }: Pick<SearchDeps, 'transactions'>) {
  const lists = await Promise.all(listPrefixedIds(q).map(async (id) => await transactions.listById(name, id)));
  return lists
    .flat()
    .map((transaction) => ({ type: 'transaction', transaction: toTransactionRecord(transaction) }) as const);
}

async function findEvent({ name }: App, q: string, { events }: Pick<SearchDeps, 'events'>) {
  const event = await events.find(name, q);
  return event ? [{ type: 'event', eventId: event.eventId } as const] : [];
}

async function findDelivery({ name }: App, q: string, { deliveries }: Pick<SearchDeps, 'deliveries'>) {
  const delivery = await deliveries.find(name, q);
  return delivery ? [{ type: 'delivery', deliveryId: delivery.deliveryId } as const] : [];
}
