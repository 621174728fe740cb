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
  const includeNotifications = query.include_notifications === 'true';
  const loadRows = async (items: readonly Item[]) =>
    await toRows(items, { appName: app.name, withNotifications: includeNotifications, deps });
  if (startdate !== undefined || enddate !== undefined) {
    const updated = await deps.pagedLists.listUpdatedPurchaseKeys(app.name, { startdate, enddate });
    // `limit` and `skip` mean nothing here; a `total` above the rows says that the range holds too many for an answer.
    const acceptedRows = await collectRowsThatFit(
      updated,
      async (batch) => await loadRows(await deps.pagedLists.loadItems(batch)),
    );
    return { paging: { skip: 0, limit: acceptedRows.length, total: updated.length }, rows: acceptedRows };
  }
  const page = toPage(query);
  const { items, total } = await deps.pagedLists.getPage(app.name, 'P', { ...page, now: deps.now() });
  return { paging: { ...page, total }, rows: await loadRows(items) };
});

interface RowOptions {
  readonly appName: string;
  readonly withNotifications: boolean;
  readonly deps: Deps;
}

async function toRows(items: readonly Item[], { appName, withNotifications: includeNotifications, deps }: RowOptions) {
  const found = items.map(parsePurchaseItem);
  const ids = includeNotifications ? found.map(({ purchase }) => purchase.purchaseId) : [];
  const notifications = await listNotificationsByPurchase(appName, ids, deps.purchases);
  return found.map(({ purchase, entitledUsers }) =>
    toPurchaseDetails(purchase, entitledUsers, {
      now: deps.now(),
      ...(includeNotifications && { notifications: notifications.get(purchase.purchaseId) ?? [] }),
    }),
  );
}
