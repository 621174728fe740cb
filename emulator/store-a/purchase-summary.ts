import type { PurchaseSummary } from '../emulated-store.ts';
import { getLatestTransaction, type Purchase } from './records.ts';
import { getAccount, getProduct, type StoreState } from './store-state.ts';

/** A purchase as the control API shows it. */
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
    ...(expiresDate !== undefined && { expiresDate: new Date(expiresDate).toISOString() }),
    ...(subscription?.graceUntil !== undefined && {
      gracePeriodExpiresDate: new Date(subscription.graceUntil).toISOString(),
    }),
    ...(subscription && { autoRenewStatus: subscription.willRenew ? 1 : 0, renewsAs: subscription.renewal.productId }),
  };
}
