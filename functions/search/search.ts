import { search } from '../../lib/api/search.ts';
import type { App } from '../../lib/apps/app.ts';
import { customers, type Deps, deliveries, events, now, purchases, transactions, userAliases } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toPurchaseDetails, toTransactionRecord } from '../../lib/purchases/to-records.ts';
import { platforms, withPlatform } from '../../lib/shared/platform.ts';
import { toNeutralId } from '../../lib/shared/vocabulary.ts';

/** Maximum number of unclaimed purchases of one store account. */
const maxUnclaimedPurchases = 20;

export const handler = createHandler(search, {
  customers,
  deliveries,
  events,
  now,
  purchases,
  transactions,
  userAliases,
})(async ({ app, query: { q } }, deps) => {
  const results = await Promise.all([
    findCustomers(app, q, deps),
    findPurchases(app, q, deps),
    findTransactions(app, q, deps),
    deps.events.find(app.name, q).then((event) => (event ? [{ type: 'event', eventId: event.eventId } as const] : [])),
    deps.deliveries
      .find(app.name, q)
      .then((delivery) => (delivery ? [{ type: 'delivery', deliveryId: delivery.deliveryId } as const] : [])),
  ]);
  return { results: results.flat() };
});

async function findCustomers(
  { name }: App,
  q: string,
  { customers, userAliases }: Pick<Deps, 'customers' | 'userAliases'>,
) {
  const [named, aliased] = await Promise.all([customers.findMany(name, [q]), userAliases.findUser(name, q)]);
  const names = named.map(({ username }) => ({ applicationUsername: username, match: 'name' }) as const);
  const aliases = aliased === undefined || names.some(({ applicationUsername }) => applicationUsername === aliased);
  const matches = aliases ? names : [...names, { applicationUsername: aliased, match: 'alias' } as const];
  return matches.map((match) => ({ type: 'customer', ...match }) as const);
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
  { purchases, userAliases, now }: Pick<Deps, 'purchases' | 'userAliases' | 'now'>,
) {
  const unclaimedIds = await userAliases.listUnclaimedPurchasesByAlias(name, q, maxUnclaimedPurchases);
  const ids = new Set(listPrefixedIds(q));
  const found = await purchases.findMany(name, [...ids, ...unclaimedIds]);
  return found.map(
    ({ purchase, entitledUsers }) =>
      ({
        type: 'purchase',
        match: ids.has(purchase.purchaseId) ? 'purchaseId' : 'alias',
        purchase: toPurchaseDetails(purchase, entitledUsers, { now: now() }),
      }) as const,
  );
}

async function findTransactions({ name }: App, q: string, { transactions }: Pick<Deps, 'transactions'>) {
  const lists = await Promise.all(listPrefixedIds(q).map(async (id) => await transactions.listById(name, id)));
  return lists
    .flat()
    .map((transaction) => ({ type: 'transaction', transaction: toTransactionRecord(transaction) }) as const);
}
