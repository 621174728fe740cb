import * as v from 'valibot';
import type { Place } from './collections.ts';
import { Text } from './moments.ts';
import { everyPage } from './pages.ts';
import { type Answered, askService } from './service-call.ts';
import type { Session } from './session.ts';

/** A subscription, in Microsoft's words a recurrence. */
export const RecurrenceItem = v.looseObject({
  id: v.pipe(v.string(), v.minLength(1)),
  productId: v.string(),
  skuId: Text,
  autoRenew: v.nullish(v.boolean()),
  beneficiary: Text,
  expirationTime: Text,
  expirationTimeWithGrace: Text,
  isTrial: v.nullish(v.boolean()),
  lastModified: Text,
  startTime: Text,
  cancellationDate: Text,
  recurrenceState: Text,
});
export type RecurrenceItem = v.InferOutput<typeof RecurrenceItem>;

const Page = v.object({ items: v.array(RecurrenceItem), continuationToken: Text });

/** All subscriptions of the customer to products of the publisher, past ones too. */
export async function recurrencesOf(session: Session, { key, sandboxId }: Place): Promise<Answered<RecurrenceItem[]>> {
  return await everyPage(async (continuationToken) => {
    const body = {
      b2bKey: key.key,
      ...(sandboxId !== undefined && { sbx: sandboxId }),
      ...(continuationToken !== undefined && { continuationToken }),
    };
    return await askService(session, { service: 'purchase', path: '/v8.0/b2b/recurrences/query', body }, Page);
  });
}
