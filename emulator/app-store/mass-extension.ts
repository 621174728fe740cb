import { randomUUID } from 'node:crypto';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import type { ActionBody } from '../purchase-order.ts';
import { extendRenewalDate } from './extensions-and-refund-requests.ts';
import { buildNotificationType } from './purchase-transition.ts';
import { getLatestTransaction, type Purchase } from './records.ts';
import { applyActionToPurchase, type OperationContext } from './store-operations.ts';
import { getAccount } from './store-state.ts';

/**
 * Extends the subscriptions to a product at the request of the developer. A subscription with a failed payment is not
 * extended. Each subscription has a notification, and the request has a summary.
 *
 * @see https://developer.apple.com/documentation/appstoreserverapi/extend-subscription-renewal-dates-for-all-active-subscribers
 */
export function extendAll(context: OperationContext, purchase: Purchase, details: ActionBody): string {
  const { state } = requireSubscription(purchase);
  requirePossible(state === 'ACTIVE', purchase, `is ${state}: only an active subscription can be extended`);
  const at = context.now();
  const { environment } = getAccount(context.state, purchase);
  const { productId } = getLatestTransaction(purchase);
  const subscriptions = listSubscriptions(context, purchase);
  const active = subscriptions.filter(({ subscription }) => subscription?.state === 'ACTIVE');
  const failed = subscriptions.filter((other) => isInRetry(other));
  const extension = (target: Purchase, transition: Parameters<typeof extendRenewalDate>[1]) =>
    extendRenewalDate(target, transition, details.period);
  for (const target of active)
    applyActionToPurchase(context, target, { apply: extension, applyToShares: extension }, { at });
  for (const { id } of failed) {
    const native = { ...buildNotificationType('RENEWAL_EXTENSION', 'FAILURE'), environment };
    context.emitNotification({ purchaseId: id, at, native });
  }
  const summary = {
    productId,
    requestIdentifier: randomUUID(),
    storefrontCountryCodes: [],
    succeededCount: active.length,
    failedCount: failed.length,
  };
  const native = { ...buildNotificationType('RENEWAL_EXTENSION', 'SUMMARY'), environment, summary };
  context.emitNotification({ purchaseId: purchase.id, at, native });
  return purchase.id;
}

const isInRetry = ({ subscription }: Purchase): boolean =>
  subscription?.state === 'BILLING_RETRY' || subscription?.state === 'BILLING_GRACE_PERIOD';

/** Lists the subscriptions to the product in the environment of the purchase, without shares. */
function listSubscriptions({ state }: OperationContext, purchase: Purchase): Purchase[] {
  const { environment } = getAccount(state, purchase);
  const { productId } = getLatestTransaction(purchase);
  return [...state.purchases.values()].filter(
    (other) =>
      other.sharedFrom === undefined &&
      getLatestTransaction(other).productId === productId &&
      getAccount(state, other).environment === environment,
  );
}
