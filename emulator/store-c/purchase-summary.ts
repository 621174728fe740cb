import type { PurchaseSummary } from '../emulated-store.ts';
import { getLatestPayment, getStatus } from './collection-item.ts';
import type { Purchase } from './records.ts';
import { getAccount, getProduct, type StoreState } from './store-state.ts';

const iso = (at: number): string => new Date(at).toISOString();

/** A purchase as the control API shows it. */
export function toPurchaseSummary(state: StoreState, purchase: Purchase, now: number): PurchaseSummary {
  const { item, recurrence, sandboxId } = purchase;
  const { applicationUsername } = getAccount(state, purchase);
  return {
    id: purchase.id,
    productId: purchase.productId,
    type: getProduct(state, purchase).type,
    state: recurrence ? recurrence.state : getStatus(purchase, now),
    sandbox: sandboxId !== 'RETAIL',
    ...(applicationUsername !== undefined && { applicationUsername }),
    productKind: item.kind,
    transactionId: getLatestPayment(purchase).orderId,
    transactions: purchase.payments.length,
    quantity: item.quantity,
    ...(item.endDate !== undefined && { endDate: iso(item.endDate) }),
    ...(recurrence && {
      autoRenew: recurrence.autoRenew,
      expirationTime: iso(recurrence.expirationTime),
      expirationTimeWithGrace: iso(recurrence.expirationTimeWithGrace),
    }),
  };
}
