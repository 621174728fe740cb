import { apiError } from './api-error.ts';
import { productNamed, purchasesOf } from './books.ts';
import { type Account, latest, type Purchase, type Subscription } from './records.ts';
import { type Source, signedRenewal, signedTransaction } from './source.ts';

/** The numbers of the states. */
export const statusCodes: Readonly<Record<Subscription['state'], number>> = {
  ACTIVE: 1,
  EXPIRED: 2,
  BILLING_RETRY: 3,
  BILLING_GRACE_PERIOD: 4,
  REVOKED: 5,
};

/** The subscriptions of the account in the statuses that the query wants, by their groups. */
export function subscriptionStatuses(source: Source, account: Account, query: URLSearchParams): object[] {
  const wanted = query.getAll('status').map(Number);
  if (wanted.some((status) => !Object.values(statusCodes).includes(status))) {
    throw apiError(4000031, 'Invalid request. The status parameter is invalid.');
  }
  const groups = new Map<string, object[]>();
  for (const purchase of purchasesOf(source.books, account.id)) {
    if (purchase.subscription === undefined) continue;
    const status = statusCodes[purchase.subscription.state];
    if (wanted.length > 0 && !wanted.includes(status)) continue;
    const { group = '' } = productNamed(source.books, latest(purchase).productId);
    groups.set(group, [...(groups.get(group) ?? []), { status, ...lastTransaction(source, { account, purchase }) }]);
  }
  return [...groups].map(([subscriptionGroupIdentifier, lastTransactions]) => ({
    subscriptionGroupIdentifier,
    lastTransactions,
  }));
}

const lastTransaction = (source: Source, owned: { account: Account; purchase: Purchase }): object => ({
  originalTransactionId: owned.purchase.id,
  signedTransactionInfo: signedTransaction(source, { ...owned, transaction: latest(owned.purchase) }),
  signedRenewalInfo: signedRenewal(source, owned),
});
