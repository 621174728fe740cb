import { wholeSecond } from '../calendar.ts';
import type { Order } from '../orders.ts';
import { refusal } from '../refusal.ts';
import type { Books } from './books.ts';
import { stockedProduct } from './catalogue.ts';
import { type Change, told, toldOnce } from './change.ts';
import { offerOf } from './offers.ts';
import { endOf, newOrderId, newToken } from './placing.ts';
import type { PlacedOrder, Product, Purchase, Subscription } from './records.ts';

/** What the customer gets for the order. */
export function sell(books: Books, order: Order, now: number): Change {
  const { type, applicationUsername, trial, intro } = order;
  if (type !== 'paid subscription' && (trial || intro)) throw refusal(422, 'Only subscriptions have a trial or intro.');
  if (type === 'paid subscription' && (order.quantity ?? 1) > 1) {
    throw refusal(422, 'quantity: subscriptions are sold one by one.');
  }
  const product = stockedProduct(books, order);
  const owned = [...books.purchases.values()].find(
    (one) =>
      applicationUsername !== undefined && one.applicationUsername === applicationUsername && isOwned(one, product),
  );
  if (owned !== undefined) throw refusal(422, `This customer owns ${product.id} already, by ${owned.id}.`);
  const at = wholeSecond(now);
  if (type === 'paid subscription') {
    const purchase = subscribed({ order, product, at });
    return { purchase, notices: [told(purchase, 'PURCHASED')] };
  }
  const purchase = bought({ order, product, at });
  return { purchase, notices: [toldOnce(purchase, 'PURCHASED')] };
}

/** Who buys what, and when. */
export interface Sale {
  readonly order: Pick<Order, 'applicationUsername' | 'sandbox' | 'quantity' | 'trial' | 'intro' | 'autoRenew'>;
  readonly product: Product;
  readonly at: number;
}

/** Whether the customer cannot buy the product anew: what is consumed can be bought again. */
function isOwned({ productId, subscription, isConsumed, isCancelled }: Purchase, product: Product): boolean {
  if (productId !== product.id) return false;
  return subscription === undefined ? !isConsumed && !isCancelled : subscription.state !== 'EXPIRED';
}

/** A new subscription in its first period. */
export function subscribed(sale: Sale): Purchase {
  const { order, product, at } = sale;
  const { priceMicros, currency } = product;
  const { period, amountMicros, ...terms } = offerOf(product, order);
  const anchor = { date: at, period, periods: 1 };
  const expiryTime = endOf(anchor);
  const subscription: Subscription = {
    ...terms,
    state: 'ACTIVE',
    autoRenew: true,
    playsRenewals: order.autoRenew === true,
    expiryTime,
    anchor,
    priceMicros,
    currency,
  };
  const service = { start: at, end: expiryTime };
  return { ...purchaseOf(sale, { ...terms, amountMicros, service }), subscription };
}

function bought(sale: Sale): Purchase {
  const { product, order } = sale;
  return purchaseOf(sale, { phase: 'base', amountMicros: product.priceMicros * (order.quantity ?? 1) });
}

function purchaseOf(
  { order, product, at }: Sale,
  terms: Pick<PlacedOrder, 'phase' | 'offerId' | 'amountMicros' | 'service'>,
): Purchase {
  const { applicationUsername, sandbox = false, quantity = 1 } = order;
  const { id: productId, currency, priceMicros: listMicros } = product;
  const placed: PlacedOrder = {
    ...terms,
    id: newOrderId(),
    state: 'PROCESSED',
    createdAt: at,
    changedAt: at,
    productId,
    quantity,
    listMicros,
    currency,
  };
  return {
    id: newToken(),
    productId,
    ...(applicationUsername !== undefined && { applicationUsername }),
    sandbox,
    purchasedAt: at,
    isAcknowledged: false,
    isConsumed: false,
    isCancelled: false,
    quantity,
    orders: [placed],
  };
}
