import { floorToSecond, type Period } from '../calendar.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { getLatestTransaction, type Product, type Purchase, type Subscription, type Transaction } from './records.ts';

/** Time of a transition, with access to the catalogue and to new ids. */
export interface TransitionContext {
  readonly at: number;
  readonly product: (productId: string) => Product;
  readonly nextId: () => string;
}

/**
 * Type and subtype of a server notification.
 *
 * @see https://developer.apple.com/documentation/appstoreservernotifications/notificationtype
 */
export interface NotificationType {
  readonly notificationType: string;
  readonly subtype?: string;
  /** Transaction of the notification, if it is not the latest. */
  readonly transactionId?: string;
  /** Customer's reason of a refund request. */
  readonly consumptionRequestReason?: string;
  readonly externalPurchaseToken?: { readonly externalPurchaseId: string; readonly tokenCreationDate: number };
}

/** Purchase after a transition, with the notifications of the store. */
export interface Transition {
  readonly purchase: Purchase;
  readonly notifications: readonly NotificationType[];
}

/** Builds a notification type. */
export const buildNotificationType = (notificationType: string, subtype?: string): NotificationType => ({
  notificationType,
  ...(subtype !== undefined && { subtype }),
});

/** Returns the transaction with this id. Throws 422 if the purchase does not have it. */
export function requireTransaction(purchase: Purchase, transactionId: string): Transaction {
  const transaction = purchase.transactions.find((candidate) => candidate.transactionId === transactionId);
  requirePossible(transaction !== undefined, purchase, `does not have transaction ${transactionId}`);
  return transaction;
}

/** Copies a purchase with members of its subscription replaced. */
export const withSubscription = (purchase: Purchase, patch: Partial<Subscription>): Purchase => ({
  ...purchase,
  subscription: { ...requireSubscription(purchase), ...patch },
});

/** Copies a purchase with another subscription state, without the members of the previous state. */
export function withSubscriptionState(
  purchase: Purchase,
  state: Pick<Subscription, 'state' | 'willRenew'> & Partial<Subscription>,
): Purchase {
  const { expirationIntent: _intent, graceUntil: _grace, ...rest } = requireSubscription(purchase);
  return { ...purchase, subscription: { ...rest, ...state } };
}

/** Copies a purchase with members of its latest transaction replaced. */
export const withLatestTransaction = (purchase: Purchase, patch: Partial<Transaction>): Purchase => ({
  ...purchase,
  transactions: replaceTransaction(purchase.transactions, { ...getLatestTransaction(purchase), ...patch }),
});

/** Copies a purchase with a transaction added. */
export const withTransaction = (purchase: Purchase, transaction: Transaction): Purchase => {
  const [first, ...others] = purchase.transactions;
  return { ...purchase, transactions: [first, ...others, transaction] };
};

/** Replaces the transaction with the same id. */
export function replaceTransaction(
  transactions: Purchase['transactions'],
  changed: Transaction,
): Purchase['transactions'] {
  return mapTransactions(transactions, (transaction) =>
    transaction.transactionId === changed.transactionId ? changed : transaction,
  );
}

/** Copies a purchase with all transactions ended at `at` or earlier. */
export const withEndAt = (purchase: Purchase, at: number): Purchase => ({
  ...purchase,
  transactions: mapTransactions(purchase.transactions, (transaction) =>
    transaction.expiresDate === undefined || transaction.expiresDate <= at
      ? transaction
      : {
          ...transaction,
          purchaseDate: Math.min(transaction.purchaseDate, floorToSecond(at)),
          expiresDate: floorToSecond(at),
          changedAt: at,
        },
  ),
});

/** Returns the period of a subscription product. */
export const getPeriod = ({ id, period }: Product): Period => {
  if (period === undefined) throw new Error(`The period of subscription ${id} is missing`);
  return period;
};

/**
 * Returns the start of a period, at the earliest the start of the latest one: `renew` can pay a period before it
 * starts.
 */
export const clampToLatestPeriod = (purchase: Purchase, start: number): number =>
  Math.max(start, getLatestTransaction(purchase).purchaseDate);

/** Returns the end of the paid time of a subscription. */
export function getPaidUntil(purchase: Purchase): number {
  const { expiresDate, transactionId } = getLatestTransaction(purchase);
  if (expiresDate === undefined) throw new Error(`The expiration of transaction ${transactionId} is missing`);
  return expiresDate;
}

function mapTransactions(
  [first, ...others]: Purchase['transactions'],
  change: (transaction: Transaction) => Transaction,
): Purchase['transactions'] {
  return [change(first), ...others.map(change)];
}
