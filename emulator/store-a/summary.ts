import type { PurchaseSummary } from '../emulated-store.ts';
import { accountOf, type Books, productNamed } from './books.ts';
import { latest, type Purchase } from './records.ts';

/** A purchase as the control API shows it. */
export function summaryOf(books: Books, purchase: Purchase): PurchaseSummary {
  const { environment, applicationUsername } = accountOf(books, purchase);
  const { productId, transactionId, expiresDate, revocation } = latest(purchase);
  const { subscription, sharedFrom } = purchase;
  return {
    id: purchase.id,
    productId,
    type: productNamed(books, productId).type,
    state: subscription?.state ?? (revocation ? 'REVOKED' : 'PURCHASED'),
    sandbox: environment === 'Sandbox',
    ...(applicationUsername !== undefined && { applicationUsername }),
    ...(sharedFrom !== undefined && { sharedFrom }),
    transactionId,
    transactions: purchase.transactions.length,
    ...(expiresDate !== undefined && { expiresDate: new Date(expiresDate).toISOString() }),
    ...(subscription?.graceUntil !== undefined && {
      gracePeriodExpiresDate: new Date(subscription.graceUntil).toISOString(),
    }),
    ...(subscription && { autoRenewStatus: subscription.willRenew ? 1 : 0, renewsAs: subscription.renewal.productId }),
  };
}
