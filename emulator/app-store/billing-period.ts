import { type BillingAnchor, getPeriodEnd } from '../billing-anchor.ts';
import type { TransitionContext } from './purchase-transition.ts';
import type { Commitment, Item, SeatTier, Subscription, Transaction } from './records.ts';
import { buildSeatMembers } from './seats.ts';

/** Offer of a transaction with its price. */
export interface AppliedOffer extends NonNullable<Transaction['offer']> {
  readonly priceMicros: number;
}

/** Paid period of a subscription. */
export interface PaidPeriod {
  readonly anchor: BillingAnchor;
  readonly price: Subscription['renewal'];
  readonly start: number;
  readonly reason: Transaction['reason'];
  readonly quantity?: number;
  readonly offer?: AppliedOffer | undefined;
  readonly seatTiers?: readonly SeatTier[] | undefined;
  readonly commitment?: Commitment | undefined;
  readonly items?: readonly Item[] | undefined;
}

/** Builds the transaction of a paid period. */
export function buildPeriodTransaction(period: PaidPeriod, context: TransitionContext): Transaction {
  const { anchor, price, start, reason, quantity = 1, offer, seatTiers, commitment, items } = period;
  return {
    transactionId: context.nextId(),
    webOrderLineItemId: context.nextId(),
    ...price,
    purchaseDate: start,
    expiresDate: getPeriodEnd(anchor),
    quantity,
    reason,
    ...(seatTiers && buildSeatMembers(seatTiers)),
    ...(commitment && { commitment }),
    ...(items && { items }),
    ...(offer && { priceMicros: offer.priceMicros, offer: toOffer(offer) }),
    changedAt: context.at,
  };
}

const toOffer = ({ priceMicros: _paid, ...offer }: AppliedOffer): NonNullable<Transaction['offer']> => offer;
