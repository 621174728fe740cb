import type { PartialRefund } from '../../purchases/transaction.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { toAmount } from './money.ts';
import type { Order } from './payloads.ts';

/** Returns the time of a full refund; undefined if the order was not refunded or Google Play reports no date. */
export const getRefundDate = (order: Order | undefined): EpochMillis | undefined =>
  order?.state === 'REFUNDED'
    ? (order.orderHistory?.refundEvent?.eventTime ?? order.lastEventTime ?? order.createTime)
    : undefined;

/**
 * Lists the partial refunds of an order with a single line: Google Play does not report the line of a refund. The id is
 * the position by time, which the list of voided purchases yields as well.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders#OrderHistory
 */
export function listPartialRefunds(order: Order | undefined): PartialRefund[] | undefined {
  if (!order || order.lineItems.length > 1) return undefined;
  const refunds = (order.orderHistory?.partialRefundEvents ?? [])
    .map(({ createTime, processTime, state, refundDetails }) => ({
      date: processTime ?? createTime,
      isPending: state === 'PENDING',
      ...(refundDetails?.total && { amountMicros: toAmount(refundDetails.total).amountMicros }),
    }))
    .sort((a, b) => (a.date ?? 0) - (b.date ?? 0))
    .flatMap(({ date, isPending, ...amount }, index) =>
      date === undefined || isPending ? [] : [{ id: toPartialRefundId(index), date, ...amount }],
    );
  return refunds.length > 0 ? refunds : undefined;
}

/** Builds the id of a partial refund from its position in the list of the order's partial refunds. */
export const toPartialRefundId = (index: number): string => String(index + 1);
