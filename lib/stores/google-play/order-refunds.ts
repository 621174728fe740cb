import { sum } from '../../foundation/collections.ts';
import { splitAmount } from '../../foundation/split-amount.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { PartialRefund } from '../../purchases/transaction.ts';
import { toAmount } from './money.ts';
import { findLineTotal } from './order-lines.ts';
import type { Order } from './payloads.ts';

/** The refunds of one product of an order. */
interface ProductRefunds {
  /** Time of the full refund. */
  readonly refundedAt?: EpochMillis | undefined;
  /** Absent without any. */
  readonly partialRefunds?: readonly PartialRefund[] | undefined;
}

/** Returns the refunds of a product of an order. Google Play does not assign the refunds of an order to its lines. */
export function getProductRefunds(order: Order | undefined, productId: string): ProductRefunds {
  if (!order) return {};
  const orderRefundedAt = getRefundDate(order);
  if (order.lineItems.length <= 1) {
    const refunds = listPartialRefunds(order);
    const total = findLineTotal(order, productId);
    const isWhole = total && sum(refunds.map(({ amountMicros = 0 }) => amountMicros)) >= toAmount(total).amountMicros;
    // The last of the parts is the full refund.
    const partialRefunds = orderRefundedAt !== undefined && isWhole ? refunds.slice(0, -1) : refunds;
    return { refundedAt: orderRefundedAt, ...(partialRefunds.length > 0 && { partialRefunds }) };
  }
  const { refundedAt = orderRefundedAt, partialRefunds } = assignToLine(order, productId);
  return { refundedAt, ...(partialRefunds.length > 0 && { partialRefunds }) };
}

/** Returns the time of a full refund; undefined if the order was not refunded or Google Play reports no date. */
export const getRefundDate = (order: Order | undefined): EpochMillis | undefined =>
  order?.state === 'REFUNDED'
    ? (order.orderHistory?.refundEvent?.eventTime ?? order.lastEventTime ?? order.createTime)
    : undefined;

/**
 * Lists the partial refunds of an order. The id is the position by time, which the list of voided purchases yields as
 * well. A pending refund does not have a position yet: it can be processed after a later one.
 * @see https://developers.google.com/android-publisher/api-ref/rest/v3/orders#OrderHistory
 */
function listPartialRefunds(order: Order): PartialRefund[] {
  return (order.orderHistory?.partialRefundEvents ?? [])
    .filter(({ state }) => state !== 'PENDING')
    .flatMap(({ createTime, processTime: date = createTime, refundDetails }) => {
      const amount = refundDetails?.total && { amountMicros: toAmount(refundDetails.total).amountMicros };
      return date === undefined ? [] : { date, ...amount };
    })
    .sort((a, b) => a.date - b.date)
    .map((refund, index) => ({ id: toPartialRefundId(index), ...refund }));
}

/** Builds the id of a partial refund from its position in the list of the order's partial refunds. */
export const toPartialRefundId = (index: number): string => String(index + 1);

interface LineRefunds {
  readonly productId: string;
  readonly remainingMicros: number;
  readonly partialRefunds: readonly PartialRefund[];
  readonly refundedAt?: EpochMillis;
}

/**
 * Assigns the partial refunds of an order to its lines, each once, and selects the refunds of a product. A refund of
 * exactly what remains of a line is of this line; any other is split by what remains. Depends on the order alone, so
 * that every query assigns a refund alike.
 */
function assignToLine(order: Order, productId: string): Pick<LineRefunds, 'partialRefunds' | 'refundedAt'> {
  const initial = order.lineItems
    .map(({ productId: id = '' }): LineRefunds => {
      const total = findLineTotal(order, id);
      return { productId: id, remainingMicros: total ? toAmount(total).amountMicros : 0, partialRefunds: [] };
    })
    .sort((a, b) => (a.productId < b.productId ? -1 : 1));
  const lines = listPartialRefunds(order).reduce(assignRefund, initial);
  return lines.find((line) => line.productId === productId) ?? { partialRefunds: [] };
}

function assignRefund(lines: readonly LineRefunds[], refund: PartialRefund): LineRefunds[] {
  const { amountMicros = 0 } = refund;
  const remaining = lines.map(({ remainingMicros }) => remainingMicros);
  // Without known prices, or after all of them, the refund is of no line: it would end the first one.
  if (remaining.every((micros) => micros === 0)) return [...lines];
  const exact = remaining.indexOf(amountMicros);
  const shares =
    exact < 0 || amountMicros === 0
      ? splitAmount(amountMicros, remaining)
      : lines.map((_line, index) => (index === exact ? amountMicros : 0));
  return lines.map((line, index) => subtractShare(line, refund, shares[index] ?? 0));
}

function subtractShare(line: LineRefunds, { id, date }: PartialRefund, share: number): LineRefunds {
  if (share === 0) return line;
  const remainingMicros = line.remainingMicros - share;
  if (remainingMicros <= 0) return { ...line, remainingMicros: 0, refundedAt: date };
  return { ...line, remainingMicros, partialRefunds: [...line.partialRefunds, { id, date, amountMicros: share }] };
}
