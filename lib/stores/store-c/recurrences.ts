import * as v from 'valibot';
import type { QueryScope } from './collections.ts';
import { fetchAllPages } from './fetch-all-pages.ts';
import type { MicrosoftSession } from './session.ts';
import { type ApiResult, callService } from './store-service-api.ts';
import { NullishText } from './timestamps.ts';

/** A subscription, in Microsoft's words a recurrence. */
export const RecurrenceItem = v.looseObject({
  id: v.pipe(v.string(), v.minLength(1)),
  productId: v.string(),
  skuId: NullishText,
  autoRenew: v.nullish(v.boolean()),
  beneficiary: NullishText,
  expirationTime: NullishText,
  expirationTimeWithGrace: NullishText,
  isTrial: v.nullish(v.boolean()),
  lastModified: NullishText,
  startTime: NullishText,
  cancellationDate: NullishText,
  recurrenceState: NullishText,
});
export type RecurrenceItem = v.InferOutput<typeof RecurrenceItem>;

const Page = v.object({ items: v.array(RecurrenceItem), continuationToken: NullishText });

/** All subscriptions of the customer to products of the publisher, past ones too. */
export async function fetchRecurrences(
  session: MicrosoftSession,
  { key, sandboxId }: QueryScope,
): Promise<ApiResult<RecurrenceItem[]>> {
  return await fetchAllPages(async (continuationToken) => {
    const body = {
      b2bKey: key.key,
      ...(sandboxId !== undefined && { sbx: sandboxId }),
      ...(continuationToken !== undefined && { continuationToken }),
    };
    return await callService(session, { service: 'purchase', path: '/v8.0/b2b/recurrences/query', body }, Page);
  });
}
