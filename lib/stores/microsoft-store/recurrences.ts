import * as v from 'valibot';
import type { QueryScope } from './collections.ts';
import { NullishText, RecurrenceItem } from './payloads.ts';
import type { MicrosoftSession } from './session.ts';
import { type ApiResult, callService, fetchAllPages } from './store-service-api.ts';

const Page = v.object({ items: v.array(RecurrenceItem), continuationToken: NullishText });

/**
 * Fetches the customer's current and past subscriptions to the publisher's products.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/get-subscriptions-for-a-user
 */
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
