import { controlError } from '../control-error.ts';
import { defaultPriceMicros } from '../product.ts';
import { requirePossible, requireSubscription } from '../purchase-checks.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { getOrCreateProduct } from './catalogue.ts';
import type { Order, Purchase, Subscription, SubscriptionItem } from './records.ts';
import type { StoreState } from './store-state.ts';

type Line = NonNullable<Order['lines']>[number];

/**
 * Adds the add-ons of an order to a new subscription. They are paid with the base item.
 *
 * @see https://developer.android.com/google/play/billing/subscription-with-addons
 */
export function withAddOns(purchase: Purchase, state: StoreState, { addOns, ...order }: PurchaseOrder): Purchase {
  const [firstOrder] = purchase.orders;
  if (addOns === undefined || firstOrder === undefined) return purchase;
  const subscription = requireSubscription(purchase);
  if (order.trial || order.intro || order.prepaid)
    throw controlError(422, 'addOns: cannot be combined with trial, intro or prepaid.');
  const productIds = [purchase.productId, ...addOns.map(({ productId }) => productId)];
  if (new Set(productIds).size < productIds.length)
    throw controlError(422, 'addOns: each product can be in a purchase once.');
  const { period } = subscription.anchor;
  const addOnLines = addOns.map(({ productId, priceMicros }): Line => {
    const terms = { productId, type: 'paid subscription' as const, period, currency: subscription.currency };
    const product = getOrCreateProduct(state, { ...terms, ...(priceMicros !== undefined && { priceMicros }) });
    return toLine(product.id, priceMicros ?? product.priceMicros ?? defaultPriceMicros);
  });
  const lines = [toLine(purchase.productId, firstOrder.amountMicros), ...addOnLines];
  const items = lines.map(
    ({ productId, amountMicros }): SubscriptionItem => ({
      productId,
      priceMicros: amountMicros,
      orderId: firstOrder.id,
    }),
  );
  return {
    ...purchase,
    orders: [{ ...firstOrder, lines, amountMicros: sumLines(lines) }],
    subscription: { ...subscription, items },
  };
}

export const toLine = (productId: string, amountMicros: number): Line => ({
  productId,
  amountMicros,
  listMicros: amountMicros,
});

export const sumLines = (lines: readonly Line[]): number =>
  lines.reduce((sum, { amountMicros }) => sum + amountMicros, 0);

/** Lists the lines of an order. */
export const listLines = ({ lines, productId, amountMicros, listMicros }: Order): readonly Line[] =>
  lines ?? [{ productId, amountMicros, listMicros }];

/** The next renewal charges the item. */
export const isRenewing = ({ isRemoved, isDeclined, endsAt, replacedBy }: SubscriptionItem): boolean =>
  !isRemoved && replacedBy === undefined && (isDeclined === true || endsAt === undefined);

/** Finds the item that replaces another one at the next renewal. */
export const findDeferredItem = ({ items }: Subscription): SubscriptionItem | undefined =>
  items?.find(({ deferredPeriod }) => deferredPeriod !== undefined);

/** Returns the purchase with the plan that its renewal charges. */
export function withDeferredPlan(purchase: Purchase): Purchase {
  const subscription = requireSubscription(purchase);
  const { productId, priceMicros, deferredPeriod: period } = findDeferredItem(subscription) ?? {};
  if (productId === undefined || priceMicros === undefined || period === undefined) return purchase;
  const renewed: Subscription = { ...subscription, priceMicros, period };
  return { ...purchase, productId, subscription: renewed };
}

/** Lists the lines of the next order, with the next price of the base item. Undefined without add-ons. */
export function listNextLines(purchase: Purchase, basePriceMicros: number): readonly Line[] | undefined {
  const { items } = requireSubscription(purchase);
  return items
    ?.filter(isRenewing)
    .map(({ productId, priceMicros }) =>
      toLine(productId, productId === purchase.productId ? basePriceMicros : priceMicros),
    );
}

/**
 * Returns the items after the payment of a period: items that ended leave the purchase, replaced ones a period later.
 */
export const renewItems = (
  { items, expiryTime }: Subscription,
  { id, lines = [], service }: Order,
): Pick<Subscription, 'items'> | undefined =>
  items && {
    items: [
      ...items.filter(isRenewing).map(({ productId, priceMicros }) => {
        const paid = lines.find((line) => line.productId === productId);
        return { productId, priceMicros: paid?.listMicros ?? priceMicros, orderId: id };
      }),
      ...items
        .filter(isReplacedNow)
        .map(({ replacedBy: _next, ...item }) => ({ ...item, endsAt: service?.start ?? expiryTime })),
    ],
  };

const isReplacedNow = ({ replacedBy }: SubscriptionItem): boolean => replacedBy !== undefined;

/** Replaces an item. */
export const withItem = (
  { items = [], ...subscription }: Subscription,
  productId: string,
  change: (item: SubscriptionItem) => SubscriptionItem,
): Subscription => ({
  ...subscription,
  items: items.map((item) => (item.productId === productId ? change(item) : item)),
});

/** Returns an item that has not ended. Throws 422 without one, or if it is the only one. */
export function requireItem(purchase: Purchase, at: number, productId: string | undefined): SubscriptionItem {
  const { items = [] } = requireSubscription(purchase);
  const active = items.filter(({ endsAt, isRemoved }) => !isRemoved && (endsAt === undefined || endsAt > at));
  const item = active.find((candidate) => candidate.productId === productId);
  requirePossible(item !== undefined, purchase, `does not have the active item ${productId}`);
  requirePossible(active.length > 1, purchase, 'has no other active item');
  return item;
}

/** Returns the time at which access to the item ends. */
export function getItemEnd({ expiryTime, state }: Subscription, { endsAt = expiryTime }: SubscriptionItem): number {
  return state === 'ON_HOLD' || state === 'PAUSED' || state === 'EXPIRED' ? Math.min(endsAt, expiryTime) : endsAt;
}
