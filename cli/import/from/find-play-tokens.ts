import { splitIntoChunks } from '../../../lib/foundation/batches.ts';
import { platformTokens } from '../../../lib/foundation/platform.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { minuteMs } from '../../../lib/foundation/time.ts';
import { createStoreContext } from '../../../lib/stores/create-store-context.ts';
import { connectPlay } from '../../../lib/stores/google-play/play-api.ts';

/** Google accepts 1,000 orders in a call, but their ids are a part of the URL. */
const batchSize = 100;

/** Time for one batch. If Google does not have one of its orders, each order is its own call. */
const budgetMs = 2 * minuteMs;
const ignoreCalls = { addExternalCall: () => {} };

/**
 * Returns the purchase tokens of orders of Google Play, by order id. Leaves out orders that Google does not have.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders/batchget
 */
export async function findPlayTokens(
  service: Service,
  appName: string,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const context = await createStoreContext(service, appName, {
    platform: platformTokens.googlePlay,
    recorder: ignoreCalls,
  });
  const tokens = new Map<string, string>();
  for (const batch of splitIntoChunks([...new Set(orderIds)], batchSize)) {
    const play = connectPlay(context, { budgetMs });
    for (const [orderId, { purchaseToken }] of await play.fetchExistingOrders(batch))
      if (purchaseToken) tokens.set(orderId, purchaseToken);
  }
  return tokens;
}
