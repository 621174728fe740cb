import type { EpochMillis } from '../../shared/time.ts';
import type { StoreNotification } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { deriveNotificationKey } from './receive.ts';
import { searchPaymentIds } from './search-payments.ts';

/** Refunds and voids since then: the processor tells nobody of those that were made by hand in its Control Panel. */
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
  const at = context.now();
  return [
    ...refunds.map((id) => toNotification('refund', { id, at })),
    ...voids.map((id) => toNotification('void', { id, at })),
  ];
}

/** The search tells ids alone, so that the time is that of the search. */
const toNotification = (
  type: 'refund' | 'void',
  { id, at }: { readonly id: string; readonly at: EpochMillis },
): StoreNotification => ({
  key: deriveNotificationKey(type, id),
  type,
  occurredAt: at,
  payload: { reason: 'REFUNDED', transaction: id },
});
