import type { Millis } from '../../purchases/purchase.ts';
import type { Asking, StoreMessage } from '../store.ts';
import { answered, gatewayOf } from './client.ts';
import { idsOf } from './search.ts';
import { messageKey } from './webhook.ts';

/** Refunds and voids since then: the processor tells nobody of those that were made by hand in its Control Panel. */
export async function missedSince(since: Millis, asking: Asking): Promise<readonly StoreMessage[]> {
  const gateway = await gatewayOf(asking);
  const from = new Date(since).toISOString();
  const refunds = await answered(() =>
    idsOf(gateway, (search) => {
      search.createdAt().min(from);
      search.type().is('credit');
    }),
  );
  const voids = await answered(() => idsOf(gateway, (search) => search.voidedAt().min(from)));
  const at = asking.now();
  return [...refunds.map((id) => messageOf('refund', { id, at })), ...voids.map((id) => messageOf('void', { id, at }))];
}

/** The search tells ids alone, so that the time is that of the search. */
const messageOf = (
  type: 'refund' | 'void',
  { id, at }: { readonly id: string; readonly at: Millis },
): StoreMessage => ({
  key: messageKey(type, id),
  type,
  at,
  content: { reason: 'REFUNDED', transaction: id },
});
