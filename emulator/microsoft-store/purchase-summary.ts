import { formatTime } from '../calendar.ts';
import type { PurchaseSummary } from '../emulated-store.ts';
import { getProduct } from '../product.ts';
import { getLatestPayment, getStatus } from './collection-item.ts';
import { summarizePayments } from './payments.ts';
import type { Purchase } from './records.ts';
import { getAccount, type StoreState } from './store-state.ts';

/** Converts a purchase for responses of the control API. */
export function toPurchaseSummary(state: StoreState, purchase: Purchase, now: number): PurchaseSummary {
  const { item, recurrence, sandboxId } = purchase;
  const { applicationUsername } = getAccount(state, purchase);
  const product = getProduct(state, purchase.productId);
  return {
    id: purchase.id,
    productId: purchase.productId,
    type: product.type,
    state: recurrence ? recurrence.state : getStatus(purchase, now),
    sandbox: sandboxId !== 'RETAIL',
    ...(applicationUsername !== undefined && { applicationUsername }),
    productKind: item.kind,
    transactionId: getLatestPayment(purchase).orderId,
    transactions: purchase.payments.length,
    quantity: item.quantity,
    ...summarizePayments(purchase, product.currency),
    ...(item.endDate !== undefined && { endDate: formatTime(item.endDate) }),
    ...(recurrence && {
      autoRenew: recurrence.autoRenew,
      expirationTime: formatTime(recurrence.expirationTime),
      expirationTimeWithGrace: formatTime(recurrence.expirationTimeWithGrace),
    }),
  };
}
