import { toPage } from '../../lib/api/paging.ts';
import { listPurchases } from '../../lib/api/purchases.ts';
import { parsePurchaseItem } from '../../lib/db/purchase-repository.ts';
import type { Item } from '../../lib/db/table.ts';
import type { Deps } from '../../lib/deps.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { collectRowsThatFit } from '../../lib/http/response-size.ts';
import { listNotificationsByPurchase } from '../../lib/purchases/list-notifications.ts';
import { toPurchaseDetails } from '../../lib/purchases/to-records.ts';

export const handler = createHandler(listPurchases)(async ({ app, query }, deps) => {
  const { startdate, enddate } = query;
  const includesNotifications = query.include_notifications === 'true';
  const loadRows = async (items: readonly Item[]) =>
    await toRows(items, { appName: app.name, includesNotifications, deps });
  if (startdate !== undefined || enddate !== undefined) {
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
});

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
