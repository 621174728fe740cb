import type { androidpublisher_v3 } from '@googleapis/androidpublisher';
import * as v from 'valibot';
import { dayMs } from '../calendar.ts';
import { apiError } from './api-error.ts';
import { toVoidedView } from './order-view.ts';
import type { ResponseContext } from './response-context.ts';

const retentionMs = 30 * dayMs;
const maxPageSize = 1000;

const Digits = v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'Invalid Value'), v.transform(Number));
const Query = v.object({
  startTime: v.exactOptional(Digits),
  endTime: v.exactOptional(Digits),
  type: v.optional(v.picklist(['0', '1']), '0'),
  maxResults: v.optional(v.pipe(Digits, v.minValue(1)), String(maxPageSize)),
  token: v.optional(Digits, '0'),
  includeQuantityBasedPartialRefund: v.optional(v.picklist(['true', 'false']), 'false'),
});

/**
 * `GET purchases/voidedpurchases`: returns the voided orders of the last 30 days, with subscriptions and partial
 * refunds on request.
 *
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases/list
 */
export function listVoidedPurchases(
  { state, now, settings }: ResponseContext,
  query: URLSearchParams,
): androidpublisher_v3.Schema$VoidedPurchasesListResponse {
  const parsed = v.safeParse(Query, Object.fromEntries(query));
  if (!parsed.success) throw apiError(400, 'invalid', `Invalid value for ${v.getDotPath(parsed.issues[0])}`);
  const { startTime, endTime = now(), type, maxResults, token: start } = parsed.output;
  const { includeQuantityBasedPartialRefund: includesPartial } = parsed.output;
  const minTime = now() - retentionMs;
  if (startTime !== undefined && startTime < minTime) {
    throw apiError(400, 'invalid', 'startTime cannot be older than 30 days.');
  }
  if (endTime > now()) throw apiError(400, 'invalid', 'endTime cannot be in the future.');
  const matches = state.voided.filter(
    ({ voidedAt, isSubscription, quantity }) =>
      voidedAt >= (startTime ?? minTime) &&
      voidedAt <= endTime &&
      (type === '1' || !isSubscription) &&
      (includesPartial === 'true' || quantity === undefined),
  );
  const end = start + Math.min(maxResults, settings().listLength ?? maxPageSize);
  const page = matches.slice(start, end);
  return {
    ...(end < matches.length && { tokenPagination: { nextPageToken: String(end) } }),
    ...(page.length > 0 && { voidedPurchases: page.map(toVoidedView) }),
  };
}
