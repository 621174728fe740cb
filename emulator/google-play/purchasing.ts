import { createAnchor, getPeriodEnd } from '../billing-anchor.ts';
import { addPeriod, floorToSecond } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { Product } from '../product.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { getOrCreateProduct } from './catalogue.ts';
import { withInstallmentPlan } from './installments.ts';
import { selectOffer } from './offers.ts';
import { generateOrderId, generatePurchaseToken } from './orders.ts';
import { withPendingPayment } from './pending-payment.ts';
import { withPrepaidPlan } from './prepaid-plan.ts';
import { buildOneTimeNotification, buildSubscriptionNotification, type Transition } from './purchase-transition.ts';
import type { Order, Purchase, Subscription } from './records.ts';
import { getRentalEnd } from './rental.ts';
import type { StoreState } from './store-state.ts';
import { withAddOns } from './subscription-items.ts';

/** Executes an order. Throws 422 if the store would reject it. */
export function purchaseProduct(state: StoreState, order: PurchaseOrder, now: number): Transition {
  const { type, applicationUsername, trial, intro } = order;
  if (type !== 'paid subscription' && (trial || intro))
    throw controlError(422, 'trial and intro are only for subscriptions.');
  if (type === 'paid subscription' && (order.quantity ?? 1) > 1) {
    throw controlError(422, 'quantity: must be 1 for a subscription.');
  }
  const isSubscription = type === 'paid subscription';
  if (!isSubscription && (order.addOns || order.prepaid || order.installments))
    throw controlError(422, 'addOns, prepaid and installments are only for subscriptions.');
  if (isSubscription && order.rentalPeriod) throw controlError(422, 'rentalPeriod is only for one-time products.');
  if (order.preorderPeriod && (isSubscription || order.rentalPeriod))
    throw controlError(422, 'preorderPeriod is only for one-time products that are bought.');
  if (order.pending && trial) throw controlError(422, 'pending: a free trial does not have a payment.');
  const product = getOrCreateProduct(state, order);
  const owned = [...state.purchases.values()].find(
    (purchase) =>
      applicationUsername !== undefined &&
      purchase.applicationUsername === applicationUsername &&
      isOwned(purchase, product, now),
  );
  if (owned !== undefined) throw controlError(422, `This customer already owns ${product.id} (${owned.id}).`);
  const at = floorToSecond(now);
  if (type === 'paid subscription') {
    const plain = withAddOns(createSubscription({ order, product, at }), state, order);
    const purchase = withInstallmentPlan(withPrepaidPlan(plain, order), order);
    return order.pending
      ? { purchase: withPendingPayment(purchase), notifications: [] }
      : { purchase, notifications: [buildSubscriptionNotification(purchase, 'PURCHASED')] };
  }
  const { rentalPeriod, preorderPeriod } = order;
  const purchase = {
    ...createOneTimePurchase({ order, product, at }),
    ...(rentalPeriod !== undefined && { rentalPeriod }),
    ...(preorderPeriod !== undefined && { releaseAt: addPeriod(at, preorderPeriod) }),
  };
  return order.pending || preorderPeriod !== undefined
    ? { purchase: withPendingPayment(purchase), notifications: [] }
    : { purchase, notifications: [buildOneTimeNotification(purchase, 'PURCHASED')] };
}

/** Order with its product and time. */
export interface Sale {
  readonly order: Pick<
    PurchaseOrder,
    'applicationUsername' | 'sandbox' | 'quantity' | 'trial' | 'intro' | 'autoRenew' | 'acknowledged'
  >;
  readonly product: Product;
  readonly at: number;
}

/** The purchase prevents buying the product again. A consumed purchase does not. */
function isOwned(purchase: Purchase, product: Product, now: number): boolean {
  const { productId, subscription, isConsumed, isCancelled } = purchase;
  if (productId !== product.id) return false;
  if (subscription === undefined) return !isConsumed && !isCancelled && (getRentalEnd(purchase) ?? now + 1) > now;
  return subscription.state !== 'EXPIRED' && subscription.state !== 'PENDING_PURCHASE_CANCELED';
}

/** Builds a subscription in its first period. */
export function createSubscription(sale: Sale): Purchase {
  const { order, product, at } = sale;
  const { priceMicros, currency } = product;
  const { period, amountMicros, ...terms } = selectOffer(product, order);
  const anchor = createAnchor(at, period);
  const expiryTime = getPeriodEnd(anchor);
  const subscription: Subscription = {
    ...terms,
    state: 'ACTIVE',
    autoRenew: true,
    renewsAutomatically: order.autoRenew === true,
    expiryTime,
    anchor,
    priceMicros,
    currency,
  };
  const service = { start: at, end: expiryTime };
  return { ...buildPurchase(sale, { ...terms, amountMicros, service }), subscription };
}

function createOneTimePurchase(sale: Sale): Purchase {
  const { product, order } = sale;
  return buildPurchase(sale, { phase: 'base', amountMicros: product.priceMicros * (order.quantity ?? 1) });
}

function buildPurchase(
  { order, product, at }: Sale,
  terms: Pick<Order, 'phase' | 'offerId' | 'amountMicros' | 'service'>,
): Purchase {
  const { applicationUsername, sandbox = false, quantity = 1, acknowledged } = order;
  const { id: productId, currency, priceMicros: listMicros } = product;
  const firstOrder: Order = {
    ...terms,
    id: generateOrderId(),
    state: 'PROCESSED',
    createdAt: at,
    changedAt: at,
    productId,
    quantity,
    listMicros,
    currency,
  };
  return {
    id: generatePurchaseToken(),
    productId,
    ...(applicationUsername !== undefined && { applicationUsername }),
    sandbox,
    purchasedAt: at,
    isAcknowledged: false,
    ...(acknowledged && { isAcknowledgedByApp: true }),
    isConsumed: false,
    isCancelled: false,
    quantity,
    orders: [firstOrder],
  };
}
