import { addPeriod, type Period } from '../calendar.ts';
import type { TransitionContext } from './purchase-transition.ts';
import type { Subscription, Transaction } from './records.ts';

/** An introductory offer as it is bought: what it costs, how it is paid, how long it lasts. */
export interface AppliedOffer extends NonNullable<Transaction['offer']> {
  readonly priceMicros: number;
}

/** A period of a subscription that is paid for. */
export interface PaidPeriod {
  readonly anchor: Subscription['anchor'];
  readonly price: Subscription['renewal'];
  readonly start: number;
  readonly reason: Transaction['reason'];
  readonly quantity?: number;
  readonly offer?: AppliedOffer | undefined;
}

/** The transaction with which the customer pays a period. */
export function buildPeriodTransaction(period: PaidPeriod, context: TransitionContext): Transaction {
  const { anchor, price, start, reason, quantity = 1, offer } = period;
  return {
    transactionId: context.nextId(),
    webOrderLineItemId: context.nextId(),
    ...price,
    purchaseDate: start,
    expiresDate: addPeriod(anchor.date, anchor.period, anchor.periods),
    quantity,
    reason,
    ...(offer && { priceMicros: offer.priceMicros, offer: toOffer(offer) }),
    changedAt: context.at,
  };
}

const toOffer = ({ priceMicros: _paid, ...offer }: AppliedOffer): NonNullable<Transaction['offer']> => offer;

/** The first of a row of periods. */
export const createAnchor = (date: number, period: Period): Subscription['anchor'] => ({ date, period, periods: 1 });

/** The anchor of the period that begins at `start`: the next of its row when it follows without a gap. */
export function advanceAnchor(anchor: Subscription['anchor'], period: Period, start: number): Subscription['anchor'] {
  const follows = anchor.period === period && addPeriod(anchor.date, anchor.period, anchor.periods) === start;
  return follows ? { ...anchor, periods: anchor.periods + 1 } : createAnchor(start, period);
}
