import { floorToSecond, type Period } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import { getLatestTransaction, type Product, type Purchase, type Subscription, type Transaction } from './records.ts';

/** When something happens, and what it may look up or take. */
export interface TransitionContext {
  readonly at: number;
  readonly product: (productId: string) => Product;
  readonly nextId: () => string;
}

/** A server notification, by the type and subtype of App Store Server Notifications version 2. */
export interface NotificationType {
  readonly notificationType: string;
  readonly subtype?: string;
  /** The transaction that it is about, when that is not the latest. */
  readonly transactionId?: string;
}

/** A purchase after something happened to it, and the notifications that the store sends of it. */
export interface Transition {
  readonly purchase: Purchase;
  readonly notifications: readonly NotificationType[];
}

/** A notification of this type and subtype. */
export const buildNotificationType = (notificationType: string, subtype?: string): NotificationType => ({
  notificationType,
  ...(subtype !== undefined && { subtype }),
});

/** The subscription of a purchase; refuses a purchase that is none. */
export function requireSubscription(purchase: Purchase): Subscription {
  if (purchase.subscription === undefined) throw controlError(422, `${purchase.id} is not a subscription.`);
  return purchase.subscription;
}

/** Refuses what the store does not do in the subscription's state. */
export function requirePossible(isPossible: boolean, { id }: Purchase, problem: string): asserts isPossible {
  if (!isPossible) throw controlError(422, `${id} ${problem}.`);
}

/** The purchase with some members of its subscription replaced. */
export const withSubscription = (purchase: Purchase, patch: Partial<Subscription>): Purchase => ({
  ...purchase,
  subscription: { ...requireSubscription(purchase), ...patch },
});

/** The purchase in another state; the members that belonged to the earlier one alone are gone. */
export function withSubscriptionState(
  purchase: Purchase,
  state: Pick<Subscription, 'state' | 'willRenew'> & Partial<Subscription>,
): Purchase {
  const { expirationIntent: _intent, graceUntil: _grace, ...rest } = requireSubscription(purchase);
  return { ...purchase, subscription: { ...rest, ...state } };
}

/** The purchase with its latest transaction changed. */
export const withLatestTransaction = (purchase: Purchase, patch: Partial<Transaction>): Purchase => ({
  ...purchase,
  transactions: replaceTransaction(purchase.transactions, { ...getLatestTransaction(purchase), ...patch }),
});

/** The purchase with one more transaction. */
export const withTransaction = (purchase: Purchase, transaction: Transaction): Purchase => {
  const [first, ...others] = purchase.transactions;
  return { ...purchase, transactions: [first, ...others, transaction] };
};

/** The transactions with the one of the same id replaced. */
export function replaceTransaction(
  transactions: Purchase['transactions'],
  changed: Transaction,
): Purchase['transactions'] {
  return mapTransactions(transactions, (one) => (one.transactionId === changed.transactionId ? changed : one));
}

/** The purchase with nothing paid beyond `at`: what was to last longer ends then. */
export const withEndAt = (purchase: Purchase, at: number): Purchase => ({
  ...purchase,
  transactions: mapTransactions(purchase.transactions, (one) =>
    one.expiresDate === undefined || one.expiresDate <= at
      ? one
      : {
          ...one,
          purchaseDate: Math.min(one.purchaseDate, floorToSecond(at)),
          expiresDate: floorToSecond(at),
          changedAt: at,
        },
  ),
});

/** The period of a subscription's product. */
export const getPeriod = ({ id, period }: Product): Period => {
  if (period === undefined) throw new Error(`The subscription ${id} has no period`);
  return period;
};

/** When the paid time of a subscription ends. */
export function getPaidUntil(purchase: Purchase): number {
  const { expiresDate, transactionId } = getLatestTransaction(purchase);
  if (expiresDate === undefined) throw new Error(`The transaction ${transactionId} does not end`);
  return expiresDate;
}

function mapTransactions(
  [first, ...others]: Purchase['transactions'],
  change: (transaction: Transaction) => Transaction,
): Purchase['transactions'] {
  return [change(first), ...others.map(change)];
}
