import { toPage } from '../../lib/api/paging.ts';
import { listPurchases } from '../../lib/api/purchases.ts';
import { type Key, purchaseKey } from '../../lib/db/keys.ts';
import { parsePurchaseItem } from '../../lib/db/purchase-repository.ts';
import type { Item } from '../../lib/db/table.ts';
import { type Deps, now, ownedPurchases, pagedLists, purchases } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { collectRowsThatFit } from '../../lib/http/response-size.ts';
import { listNotificationsByPurchase } from '../../lib/purchases/list-notifications.ts';
import { isActive } from '../../lib/purchases/purchase.ts';
import { toPurchaseDetails } from '../../lib/purchases/to-records.ts';
import type { EpochMillis } from '../../lib/shared/time.ts';

export const handler = createHandler(listPurchases, { now, ownedPurchases, pagedLists, purchases })(
  async ({ app, query }, deps) => {
    const { startdate, enddate, customerId } = query;
    const includesNotifications = query.include_notifications === 'true';
    const loadRows = async (items: readonly Item[]) =>
      await toRows(items, { appName: app.name, includesNotifications, deps });
    const isDated = startdate !== undefined || enddate !== undefined;
    if (customerId !== undefined) {
      const ownedKeys = await listOwnedKeys(app.name, { ...query, customerId }, deps);
      // As without a customer, `limit` and `skip` do not apply to a date range.
      const { skip, limit } = isDated ? { skip: 0, limit: ownedKeys.length } : toPage(query);
      const rows = await collectRowsThatFit(ownedKeys.slice(skip, skip + limit), async (batch) => {
        const items = await deps.pagedLists.loadItems(batch);
        return await loadRows(items.filter((item) => isSelected(item, { customerId, startdate, enddate })));
      });
      const paging = isDated
        ? { skip, limit: rows.length, total: rows.length }
        : { skip, limit, total: ownedKeys.length };
      return { paging, rows };
    }
    if (isDated) {
      const updatedKeys = await deps.pagedLists.listUpdatedPurchaseKeys(app.name, { startdate, enddate });
      const rows = await collectRowsThatFit(
        updatedKeys,
        async (batch) => await loadRows(await deps.pagedLists.loadItems(batch)),
      );
      // `limit` and `skip` do not apply. A `total` above the number of rows means that the response limit was reached.
      return { paging: { skip: 0, limit: rows.length, total: updatedKeys.length }, rows };
    }
    const page = toPage(query);
    const { items, total } = await deps.pagedLists.getPage(app.name, 'P', { ...page, now: deps.now() });
    return { paging: { ...page, total }, rows: await loadRows(items) };
  },
);

interface OwnedRequest {
  readonly customerId: string;
  readonly order?: 'oldest' | 'newest' | undefined;
  readonly active?: string | undefined;
}

/** Lists the keys of a customer's purchases in the requested order. */
async function listOwnedKeys(
  appName: string,
  { customerId, order, active }: OwnedRequest,
  { now, ownedPurchases }: Pick<Deps, 'now' | 'ownedPurchases'>,
): Promise<Key[]> {
  if (active !== 'true') {
    const ids = await ownedPurchases.listPurchaseIds(appName, customerId);
    const oldestFirst = ids.map((id) => purchaseKey(appName, id));
    return order === 'newest' ? oldestFirst.reverse() : oldestFirst;
  }
  const newestFirst = await ownedPurchases.listRepresentativePurchases(appName, customerId);
  const activeKeys = newestFirst
    .filter((purchase) => isActive(purchase, now()))
    .map(({ purchaseId }) => purchaseKey(appName, purchaseId));
  return order === 'newest' ? activeKeys : activeKeys.reverse();
}

interface Selection {
  readonly customerId: string;
  readonly startdate: EpochMillis | undefined;
  readonly enddate: EpochMillis | undefined;
}

/** Whether the item is a purchase of the customer that changed in the range. */
function isSelected(item: Item, { customerId, startdate = 0, enddate = Infinity }: Selection): boolean {
  const { entitledUsers, updatedAt } = parsePurchaseItem(item);
  return entitledUsers.includes(customerId) && updatedAt >= startdate && updatedAt < enddate;
}

interface RowOptions {
  readonly appName: string;
  readonly includesNotifications: boolean;
  readonly deps: Pick<Deps, 'now' | 'purchases'>;
}

async function toRows(items: readonly Item[], { appName, includesNotifications, deps }: RowOptions) {
  const storedPurchases = items.map(parsePurchaseItem);
  const ids = includesNotifications ? storedPurchases.map(({ purchase }) => purchase.purchaseId) : [];
  const notifications = await listNotificationsByPurchase(appName, ids, deps.purchases);
  return storedPurchases.map(({ purchase, entitledUsers, refreshToken }) => ({
    ...toPurchaseDetails(purchase, entitledUsers, {
      now: deps.now(),
      ...(includesNotifications && { notifications: notifications.get(purchase.purchaseId) ?? [] }),
    }),
    canRefresh: refreshToken !== undefined,
  }));
}
