import { createAnchor } from '../billing-anchor.ts';
import { floorToSecond } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { type AppliedOffer, buildPeriodTransaction } from './billing-period.ts';
import { startCommitment } from './commitment.ts';
import { buildItems, sumPrices } from './items.ts';
import { buildIntroductoryOffer } from './offers.ts';
import {
  buildNotificationType,
  getPeriod,
  type NotificationType,
  type Transition,
  type TransitionContext,
} from './purchase-transition.ts';
import { type Account, getLatestTransaction, type Product, type Purchase, type Transaction } from './records.ts';
import { resubscribe } from './renewal.ts';
import { buildSeatTiers } from './seats.ts';
import { listPurchases, type StoreState } from './store-state.ts';

interface Sale {
  readonly order: PurchaseOrder;
  readonly buyer: Account;
  readonly product: Product;
}

/** Executes an order: creates a purchase, or resubscribes to an ended subscription of the group. */
export function purchaseProduct(state: StoreState, sale: Sale, context: TransitionContext): Transition {
  const { order, buyer, product } = sale;
  const offer = buildIntroductoryOffer(state, order, sale);
  const [existing] = listPurchases(state, buyer.id).filter((purchase) => isRelevant(purchase, product, context));
  if (existing === undefined) {
    const purchase =
      product.type === 'paid subscription'
        ? createSubscription(sale, offer, context)
        : createOneTimePurchase(sale, context);
    return { purchase, notifications: [getInitialNotification(product)] };
  }
  if (existing.subscription === undefined) {
    throw controlError(422, `This customer already owns ${product.id} (${existing.id}).`);
  }
  const { priceIncrease: _obsolete, commitment: _ended, seatTiers: _earlier, ...subscription } = existing.subscription;
  if (subscription.state !== 'EXPIRED' && subscription.state !== 'REVOKED') {
    throw controlError(422, `This customer is already subscribed in the group of ${product.id} (${existing.id}).`);
  }
  const renewal = toPrice(sale);
  const commitment = startCommitment(order, product, context.at);
  const seatTiers = buildSeatTiers(order, renewal.priceMicros);
  const terms = { renewal, ...(commitment && { commitment }), ...(seatTiers && { seatTiers }) };
  return resubscribe({ ...existing, subscription: { ...subscription, ...terms } }, context, offer);
}

/** Returns the notification of a new purchase. */
export const getInitialNotification = ({ type }: Product): NotificationType =>
  type === 'paid subscription'
    ? buildNotificationType('SUBSCRIBED', 'INITIAL_BUY')
    : buildNotificationType('ONE_TIME_CHARGE');

/** An earlier purchase prevents a new one or is continued by it. Family shares are ignored. */
function isRelevant(purchase: Purchase, product: Product, context: TransitionContext): boolean {
  if (purchase.sharedFrom !== undefined) return false;
  const { productId, revocation } = getLatestTransaction(purchase);
  if (product.type === 'paid subscription') return context.product(productId).group === product.group;
  return product.type === 'non consumable' && productId === product.id && revocation === undefined;
}

function toPrice({ order, product }: Sale): { productId: string; priceMicros: number; currency: string } {
  const items = buildItems(order);
  return {
    productId: product.id,
    priceMicros: items ? sumPrices(items) : (order.priceMicros ?? product.priceMicros),
    currency: order.currency ?? product.currency,
  };
}

function createSubscription(sale: Sale, offer: AppliedOffer | undefined, context: TransitionContext): Purchase {
  const start = floorToSecond(context.at);
  const anchor = createAnchor(start, offer?.period ?? getPeriod(sale.product));
  const price = toPrice(sale);
  const seatTiers = buildSeatTiers(sale.order, price.priceMicros);
  const commitment = startCommitment(sale.order, sale.product, start);
  const items = buildItems(sale.order);
  const period = { anchor, price, start, reason: 'PURCHASE', offer, seatTiers, commitment, items } as const;
  const transaction = buildPeriodTransaction(period, context);
  return {
    id: transaction.transactionId,
    accountId: sale.buyer.id,
    transactions: [transaction],
    subscription: {
      state: 'ACTIVE',
      willRenew: true,
      renewsAutomatically: sale.order.autoRenew === true,
      renewal: price,
      ...(seatTiers && { seatTiers }),
      ...(commitment && { commitment }),
      anchor,
      recentStart: start,
    },
  };
}

function createOneTimePurchase(sale: Sale, context: TransitionContext): Purchase {
  const items = buildItems(sale.order);
  const transaction: Transaction = {
    transactionId: context.nextId(),
    ...toPrice(sale),
    ...(items && { items }),
    purchaseDate: floorToSecond(context.at),
    quantity: sale.order.quantity ?? 1,
    reason: 'PURCHASE',
    changedAt: context.at,
  };
  return { id: transaction.transactionId, accountId: sale.buyer.id, transactions: [transaction] };
}
