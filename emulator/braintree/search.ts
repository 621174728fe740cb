import * as v from 'valibot';
import type { HttpResponse } from '../http-messages.ts';
import type { ResponseContext } from './merchant-state.ts';
import type { Payment } from './records.ts';
import { xmlResponse } from './responses.ts';

/** A timestamp in the format of the official client. */
const Timestamp = v.pipe(
  v.string(),
  v.transform((text) => Date.parse(text)),
  v.number(),
);
const Range = v.optional(
  v.object({ is: v.optional(Timestamp), min: v.optional(Timestamp), max: v.optional(Timestamp) }),
);

const Search = v.object({
  search: v.strictObject({
    order_id: v.optional(v.object({ is: v.string() })),
    customer_id: v.optional(v.object({ is: v.string() })),
    type: v.optional(v.array(v.string())),
    status: v.optional(v.array(v.string())),
    created_at: Range,
    voided_at: Range,
  }),
});
type Search = v.InferOutput<typeof Search>['search'];

/**
 * `POST /transactions/advanced_search_ids`: returns the ids of the transactions that match all criteria, newest first.
 */
export function searchIds({ state }: ResponseContext, body: unknown): HttpResponse {
  const { search } = v.parse(Search, body);
  const payments = [...state.payments.values()].filter((payment) => matchesSearch(payment, search)).reverse();
  return xmlResponse(200, 'search-results', { pageSize: 50, ids: payments.map(({ id }) => id) });
}

const matchesSearch = (
  payment: Payment,
  { order_id, customer_id, type, status, created_at, voided_at }: Search,
): boolean =>
  (order_id === undefined || payment.orderId === order_id.is) &&
  (customer_id === undefined || payment.customerId === customer_id.is) &&
  (type === undefined || type.includes(payment.type)) &&
  (status === undefined || status.includes(payment.status)) &&
  isWithin(payment.createdAt, created_at) &&
  isWithin(payment.status === 'voided' ? payment.updatedAt : undefined, voided_at);

function isWithin(at: number | undefined, range: v.InferOutput<typeof Range>): boolean {
  if (range === undefined) return true;
  const { is, min = is ?? Number.NEGATIVE_INFINITY, max = is ?? Number.POSITIVE_INFINITY } = range;
  return at !== undefined && min <= at && at <= max;
}
