import { pageOf } from '../../lib/api/paging.ts';
import { listPurchases } from '../../lib/api/purchases.ts';
import { listedPurchase } from '../../lib/db/purchases.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { notificationsOfEach } from '../../lib/notifications/of-each.ts';
import { fetchedPurchase } from '../../lib/purchases/records.ts';

export const handler = endpoint(listPurchases)(async ({ app, query }, { now, lists, purchases }) => {
  const { startdate, enddate } = query;
  const isRange = startdate !== undefined || enddate !== undefined;
  const page = isRange
    ? wholePage(await lists.updated(app.name, { startdate, enddate }))
    : { ...(await lists.page(app.name, 'P', { ...pageOf(query), now: now() })), ...pageOf(query) };
  const found = page.items.map(listedPurchase);
  const notifications =
    query.include_notifications === 'true'
      ? await notificationsOfEach(
          app.name,
          found.map(({ purchase }) => purchase.purchaseId),
          purchases,
        )
      : undefined;
  return {
    paging: { skip: page.skip, limit: page.limit, total: page.total },
    rows: found.map(({ purchase, entitledUsers }) => {
      const own = notifications && { notifications: notifications.get(purchase.purchaseId) ?? [] };
      return fetchedPurchase(purchase, entitledUsers, { now: now(), ...own });
    }),
  };
});

/** `limit` and `skip` mean nothing when all that changed is asked for. */
const wholePage = <T>(items: readonly T[]) => ({ items, skip: 0, limit: items.length, total: items.length });
