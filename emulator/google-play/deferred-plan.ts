import type { Product } from '../product.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import { getPeriod } from './catalogue.ts';
import { replacePurchase, toBaseItem } from './item-changes.ts';
import { generateOrderId } from './orders.ts';
import type { Transition } from './purchase-transition.ts';
import type { Purchase } from './records.ts';
import { toLine } from './subscription-items.ts';

/**
 * Changes the product at the next renewal, which charges the new price: replacement mode `DEFERRED`. The new purchase
 * has its own token at once, and the current product until then.
 *
 * @see https://developer.android.com/google/play/billing/subscriptions#replacement-modes
 */
export function deferPlanChange(purchase: Purchase, next: Product, at: number): Transition {
  const { items, isPrepaid, anchor } = requireSubscription(purchase);
  requirePossible(!isPrepaid && items === undefined, purchase, 'has a prepaid plan or items: change them at once');
  const { id: productId, priceMicros } = next;
  const isSamePlan = productId === purchase.productId && getPeriod(next) === anchor.period;
  requirePossible(!isSamePlan, purchase, `already has ${productId}`);
  return replacePurchase(purchase, at, {
    orderId: generateOrderId(),
    lines: [toLine(purchase.productId, 0)],
    items: [
      { ...toBaseItem(purchase), replacedBy: productId },
      { productId, priceMicros, orderId: '', deferredPeriod: getPeriod(next) },
    ],
    isDeferred: true,
  });
}
