import { type Period, wholeSecond } from '../calendar.ts';
import { refusal } from '../refusal.ts';
import { latest, type Product, type Purchase, type Subscription, type Transaction } from './records.ts';

/** When something happens, and what it may look up or take. */
export interface Moment {
  readonly at: number;
  readonly product: (productId: string) => Product;
  readonly nextId: () => string;
}

/** A server notification, by the type and subtype of App Store Server Notifications version 2. */
export interface Notice {
  readonly notificationType: string;
  readonly subtype?: string;
  /** The transaction that it is about, when that is not the latest. */
  readonly transactionId?: string;
}

/** A purchase after something happened to it, and the notifications that the store sends of it. */
export interface Change {
  readonly purchase: Purchase;
  readonly notices: readonly Notice[];
}

/** A notification of this type and subtype. */
export const notice = (notificationType: string, subtype?: string): Notice => ({
  notificationType,
  ...(subtype !== undefined && { subtype }),
});

/** The subscription of a purchase; refuses a purchase that is none. */
export function subscriptionOf(purchase: Purchase): Subscription {
  if (purchase.subscription === undefined) throw refusal(422, `${purchase.id} is not a subscription.`);
  return purchase.subscription;
}

/** Refuses what the store does not do in the subscription's state. */
export function demand(isPossible: boolean, { id }: Purchase, problem: string): asserts isPossible {
  if (!isPossible) throw refusal(422, `${id} ${problem}.`);
}

/** The purchase with some members of its subscription replaced. */
export const withSubscription = (purchase: Purchase, patch: Partial<Subscription>): Purchase => ({
  ...purchase,
  subscription: { ...subscriptionOf(purchase), ...patch },
});

/** The purchase in another state; the members that belonged to the earlier one alone are gone. */
export function withState(
  purchase: Purchase,
  state: Pick<Subscription, 'state' | 'willRenew'> & Partial<Subscription>,
): Purchase {
  const { expirationIntent: _intent, graceUntil: _grace, ...rest } = subscriptionOf(purchase);
  return { ...purchase, subscription: { ...rest, ...state } };
}

/** The purchase with its latest transaction changed. */
export const withLatest = (purchase: Purchase, patch: Partial<Transaction>): Purchase => ({
  ...purchase,
  transactions: replaceIn(purchase.transactions, { ...latest(purchase), ...patch }),
});

/** The purchase with one more transaction. */
export const withTransaction = (purchase: Purchase, transaction: Transaction): Purchase => {
  const [first, ...others] = purchase.transactions;
  return { ...purchase, transactions: [first, ...others, transaction] };
};

/** The transactions with the one of the same id replaced. */
export function replaceIn(transactions: Purchase['transactions'], changed: Transaction): Purchase['transactions'] {
  return mapTransactions(transactions, (one) => (one.transactionId === changed.transactionId ? changed : one));
}

/** The purchase with nothing paid beyond `at`: what was to last longer ends then. */
export const endingAt = (purchase: Purchase, at: number): Purchase => ({
  ...purchase,
  transactions: mapTransactions(purchase.transactions, (one) =>
    one.expiresDate === undefined || one.expiresDate <= at
      ? one
      : {
          ...one,
          purchaseDate: Math.min(one.purchaseDate, wholeSecond(at)),
          expiresDate: wholeSecond(at),
          changedAt: at,
        },
  ),
});

/** The period of a subscription's product. */
export const periodOf = ({ id, period }: Product): Period => {
  if (period === undefined) throw new Error(`The subscription ${id} has no period`);
  return period;
};

/** When the paid time of a subscription ends. */
export function paidUntil(purchase: Purchase): number {
  const { expiresDate, transactionId } = latest(purchase);
  if (expiresDate === undefined) throw new Error(`The transaction ${transactionId} does not end`);
  return expiresDate;
}

function mapTransactions(
  [first, ...others]: Purchase['transactions'],
  change: (transaction: Transaction) => Transaction,
): Purchase['transactions'] {
  return [change(first), ...others.map(change)];
}
