import { rowsThatFit } from '../../lib/api/answer-size.ts';
import { pageOf } from '../../lib/api/paging.ts';
import { listPurchases } from '../../lib/api/purchases.ts';
import { listedPurchase } from '../../lib/db/purchases.ts';
import type { Item } from '../../lib/db/table.ts';
import type { Deps } from '../../lib/deps.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { notificationsOfEach } from '../../lib/notifications/of-each.ts';
import { fetchedPurchase } from '../../lib/purchases/records.ts';

export const handler = endpoint(listPurchases)(async ({ app, query }, deps) => {
  const { startdate, enddate } = query;
  const withNotifications = query.include_notifications === 'true';
  const rowsOf = async (items: readonly Item[]) => await rows(items, { app: app.name, withNotifications, deps });
  if (startdate !== undefined || enddate !== undefined) {
    const updated = await deps.lists.updated(app.name, { startdate, enddate });
    // `limit` and `skip` mean nothing here; a `total` above the rows says that the range holds too many for an answer.
    const fitting = await rowsThatFit(updated, async (some) => await rowsOf(await deps.lists.items(some)));
    return { paging: { skip: 0, limit: fitting.length, total: updated.length }, rows: fitting };
  }
  const asked = pageOf(query);
  const { items, total } = await deps.lists.page(app.name, 'P', { ...asked, now: deps.now() });
  return { paging: { ...asked, total }, rows: await rowsOf(items) };
});

interface Showing {
  readonly app: string;
  readonly withNotifications: boolean;
  readonly deps: Deps;
}

async function rows(items: readonly Item[], { app, withNotifications, deps }: Showing) {
  const found = items.map(listedPurchase);
  const ids = withNotifications ? found.map(({ purchase }) => purchase.purchaseId) : [];
  const notifications = await notificationsOfEach(app, ids, deps.purchases);
  return found.map(({ purchase, entitledUsers }) =>
    fetchedPurchase(purchase, entitledUsers, {
      now: deps.now(),
      ...(withNotifications && { notifications: notifications.get(purchase.purchaseId) ?? [] }),
    }),
  );
}
