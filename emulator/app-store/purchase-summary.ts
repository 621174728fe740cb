import { formatTime } from '../calendar.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import { getProduct } from '../product.ts';
import { getLatestTransaction, type Purchase } from './records.ts';
import { getAccount, type StoreState } from './store-state.ts';

/** Converts a purchase for responses of the control API. */
export function toPurchaseSummary(state: StoreState, purchase: Purchase): PurchaseSummary {
  const { environment, applicationUsername } = getAccount(state, purchase);
  const { productId, transactionId, expiresDate, revocation } = getLatestTransaction(purchase);
  const { subscription, sharedFrom } = purchase;
  return {
    id: purchase.id,
    productId,
    type: getProduct(state, productId).type,
    state: subscription?.state ?? (revocation ? 'REVOKED' : 'PURCHASED'),
    sandbox: environment === 'Sandbox',
    ...(applicationUsername !== undefined && { applicationUsername }),
    ...(sharedFrom !== undefined && { sharedFrom }),
    transactionId,
    transactions: purchase.transactions.length,
    ...(expiresDate !== undefined && { expiresDate: formatTime(expiresDate) }),
    ...(subscription?.graceUntil !== undefined && {
      gracePeriodExpiresDate: formatTime(subscription.graceUntil),
    }),
    ...(subscription && { autoRenewStatus: subscription.willRenew ? 1 : 0, renewsAs: subscription.renewal.productId }),
  };
}
