import { getProduct } from '../product.ts';
import { apiError } from './api-error.ts';
import { type Account, getLatestTransaction, type Purchase, type Subscription } from './records.ts';
import { type ResponseContext, signRenewal, signTransaction } from './response-context.ts';
import { listPurchases } from './store-state.ts';

/**
 * Status values of subscriptions.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/status
 */
export const statusCodes: Readonly<Record<Subscription['state'], number>> = {
  ACTIVE: 1,
  EXPIRED: 2,
  BILLING_RETRY: 3,
  BILLING_GRACE_PERIOD: 4,
  REVOKED: 5,
};

/** Builds the subscriptions of an account by group, filtered by the `status` parameters of the query. */
export function buildSubscriptionStatuses(
  context: ResponseContext,
  account: Account,
  query: URLSearchParams,
): object[] {
  const requested = query.getAll('status').map(Number);
  if (requested.some((status) => !Object.values(statusCodes).includes(status))) {
    throw apiError(4000031, 'Invalid request. The status parameter is invalid.');
  }
  const groups = new Map<string, object[]>();
  for (const purchase of listPurchases(context.state, account.id)) {
    if (purchase.subscription === undefined) continue;
    const status = statusCodes[purchase.subscription.state];
    if (requested.length > 0 && !requested.includes(status)) continue;
    const { group = '' } = getProduct(context.state, getLatestTransaction(purchase).productId);
    groups.set(group, [
      ...(groups.get(group) ?? []),
      { status, ...buildLastTransaction(context, { account, purchase }) },
    ]);
  }
  return [...groups].map(([subscriptionGroupIdentifier, lastTransactions]) => ({
    subscriptionGroupIdentifier,
    lastTransactions,
  }));
}

const buildLastTransaction = (context: ResponseContext, owned: { account: Account; purchase: Purchase }): object => ({
  originalTransactionId: owned.purchase.id,
  signedTransactionInfo: signTransaction(context, { ...owned, transaction: getLatestTransaction(owned.purchase) }),
  signedRenewalInfo: signRenewal(context, owned),
});
