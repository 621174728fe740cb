import type { PurchaseSummary } from '../emulated-store.ts';
import { accountOf, type Books, productOf } from './books.ts';
import { latestPayment, statusOf } from './collection-item.ts';
import type { Purchase } from './records.ts';

const iso = (at: number): string => new Date(at).toISOString();

/** A purchase as the control API shows it. */
export function summaryOf(books: Books, purchase: Purchase, now: number): PurchaseSummary {
  const { item, recurrence, sandboxId } = purchase;
  const { applicationUsername } = accountOf(books, purchase);
  return {
    id: purchase.id,
    productId: purchase.productId,
    type: productOf(books, purchase).type,
    state: recurrence ? recurrence.state : statusOf(purchase, now),
    sandbox: sandboxId !== 'RETAIL',
    ...(applicationUsername !== undefined && { applicationUsername }),
    productKind: item.kind,
    transactionId: latestPayment(purchase).orderId,
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
