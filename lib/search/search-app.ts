import type { App } from '../apps/app.ts';
import { findCustomerNames, findCustomerRows } from '../customers/customer-table.ts';
import { findEvent } from '../events/event-table.ts';
import { customerNameList, nameWordList } from '../foundation/keys.ts';
import { platforms, withPlatform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { toNeutralId } from '../foundation/vocabulary.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { findPurchases, listPurchaseIdsByStoreAccount } from '../purchases/purchase-table.ts';
import { toPurchaseDetails, toTransactionRecord } from '../purchases/to-records.ts';
import { listTransactionsById } from '../purchases/transaction-table.ts';
import { findUserOfAlias, listUnclaimedPurchases } from '../purchases/user-alias-table.ts';
import { findDelivery } from '../webhooks/delivery-table.ts';
import type { SearchResult } from './contract.ts';

/** Maximum number of purchases of one store account. */
const maxAccountPurchases = 20;

/** Maximum number of customers whose names, or words of them, begin with the text. */
const maxNames = 20;

/**
 * Finds the customers whose names, or words of them, begin with the text, and what has exactly this name or id:
 * purchases, transactions, an event, a delivery. Ignores the case of names, and of ids if the exact one is not found.
 */
export async function searchApp(service: Service, app: App, q: string): Promise<SearchResult[]> {
  const exact = await findExact(service, app, q);
  if (exact.some(({ type }) => type !== 'customer')) return exact;
  const variants = [...new Set([q.toUpperCase(), q.toLowerCase()])].filter((variant) => variant !== q);
  const results = await Promise.all(
    variants.flatMap((variant) => [searchPurchases(service, app, variant), searchTransactions(service, app, variant)]),
  );
  return [...exact, ...results.flat()];
}

async function findExact(service: Service, app: App, q: string): Promise<SearchResult[]> {
  const results = await Promise.all([
    searchCustomers(service, app, q),
    searchPurchases(service, app, q),
    searchTransactions(service, app, q),
    searchEvents(service, app, q),
    searchDeliveries(service, app, q),
  ]);
  return results.flat();
}

async function searchCustomers(service: Service, { name }: App, q: string) {
  const [named, aliased, prefixed, worded] = await Promise.all([
    findCustomerRows(service, name, [q]),
    findUserOfAlias(service, name, q),
    findCustomerNames(service, name, { list: customerNameList, prefix: q, limit: maxNames }),
    findCustomerNames(service, name, { list: nameWordList, prefix: q, limit: maxNames }),
  ]);
  const matches = [
    ...named.map(({ username }) => [username, 'name'] as const),
    ...(aliased === undefined ? [] : [[aliased, 'alias'] as const]),
    ...[
      ...prefixed.map((username) => [username, 'prefix'] as const),
      ...worded.map((username) => [username, 'word'] as const),
    ].slice(0, maxNames),
  ];
  // The first match of a customer is the closest one.
  const closest = new Map(matches.toReversed());
  return [...new Set(matches.map(([username]) => username))].map(
    (username) =>
      ({ type: 'customer', applicationUsername: username, match: closest.get(username) ?? 'prefix' }) as const,
  );
}

/** Returns the id as it is, or with the prefix of each platform if it lacks one. */
function listPrefixedIds(q: string): string[] {
  const id = toNeutralId(q);
  const isPrefixed = platforms.some((platform) => id.startsWith(`${platform}:`));
  return isPrefixed ? [id] : platforms.map((platform) => withPlatform(platform, id));
}

async function searchPurchases(service: Service, { name }: App, q: string) {
  const [unclaimedIds, accountIds] = await Promise.all([
    listUnclaimedPurchases(service, name, [q], maxAccountPurchases),
    listPurchaseIdsByStoreAccount(service, name, q, maxAccountPurchases),
  ]);
  const ids = new Set(listPrefixedIds(q));
  const found = await findPurchases(service, name, [...ids, ...unclaimedIds, ...accountIds]);
  const chooseMatch = ({ purchaseId }: Purchase) => {
    if (ids.has(purchaseId)) return 'purchaseId';
    return accountIds.includes(purchaseId) ? 'appTransactionId' : 'alias';
  };
  return found.map(
    ({ purchase, entitledUsers }) =>
      ({
        type: 'purchase',
        match: chooseMatch(purchase),
        purchase: toPurchaseDetails(purchase, entitledUsers, { now: service.now() }),
      }) as const,
  );
}

async function searchTransactions(service: Service, { name }: App, q: string) {
  const lists = await Promise.all(listPrefixedIds(q).map(async (id) => await listTransactionsById(service, name, id)));
  return lists
    .flat()
    .map((transaction) => ({ type: 'transaction', transaction: toTransactionRecord(transaction) }) as const);
}

async function searchEvents(service: Service, { name }: App, q: string) {
  const event = await findEvent(service, name, q);
  return event ? [{ type: 'event', eventId: event.eventId } as const] : [];
}

async function searchDeliveries(service: Service, { name }: App, q: string) {
  const delivery = await findDelivery(service, name, q);
  return delivery ? [{ type: 'delivery', deliveryId: delivery.deliveryId } as const] : [];
}
