import type { EpochMillis } from '../../foundation/time.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { deriveNotificationKey } from './receive.ts';
import { searchPaymentIds } from './search-payments.ts';

/** Lists refunds and voids since a time. Braintree does not send a webhook for those made in its Control Panel. */
export async function listUndelivered(
  since: EpochMillis,
  context: StoreContext,
): Promise<readonly StoreNotification[]> {
  const gateway = await createGateway(context);
  const from = new Date(since).toISOString();
  const refunds = await callBraintree(() =>
    searchPaymentIds(gateway, (search) => {
      search.createdAt().min(from);
      search.type().is('credit');
    }),
  );
  const voids = await callBraintree(() => searchPaymentIds(gateway, (search) => search.voidedAt().min(from)));
  const now = context.now();
  return [
    ...refunds.map((id) => toNotification('refund', id, now)),
    ...voids.map((id) => toNotification('void', id, now)),
  ];
}

/** Creates a notification at the time of the search, because a search returns only ids. */
const toNotification = (type: 'refund' | 'void', id: string, now: EpochMillis): StoreNotification => ({
  key: deriveNotificationKey(type, id),
  type,
  occurredAt: now,
  payload: { reason: 'REFUNDED', transaction: id },
});
