import { wholeSecond } from '../calendar.ts';
import type { Order } from '../orders.ts';
import { refusal } from '../refusal.ts';
import { type Books, purchasesOf } from './books.ts';
import { type Change, type Moment, type Notice, notice, periodOf } from './change.ts';
import { introductoryOffer } from './offers.ts';
import { type BoughtOffer, firstAnchor, periodTransaction } from './period.ts';
import { type Account, latest, type Product, type Purchase, type Transaction } from './records.ts';
import { resubscribe } from './renewal.ts';

interface Sale {
  readonly order: Order;
  readonly buyer: Account;
  readonly product: Product;
}

/** What the customer gets for the order: a new purchase, or a subscription of the group that had ended, renewed. */
export function sell(books: Books, sale: Sale, moment: Moment): Change {
  const { order, buyer, product } = sale;
  const offer = introductoryOffer(books, order, sale);
  const [before] = purchasesOf(books, buyer.id).filter((purchase) => stillCounts(purchase, product, moment));
  if (before === undefined) {
    const purchase = product.type === 'paid subscription' ? subscribed(sale, offer, moment) : bought(sale, moment);
    return { purchase, notices: [firstNotice(product)] };
  }
  if (before.subscription === undefined) {
    throw refusal(422, `This customer owns ${product.id} already, by ${before.id}.`);
  }
  const { priceIncrease: _past, ...subscription } = before.subscription;
  if (subscription.state !== 'EXPIRED' && subscription.state !== 'REVOKED') {
    throw refusal(422, `This customer is subscribed in the group of ${product.id} already, by ${before.id}.`);
  }
  return resubscribe({ ...before, subscription: { ...subscription, renewal: priceOf(sale) } }, moment, offer);
}

/** The notification of a new purchase. */
export const firstNotice = ({ type }: Product): Notice =>
  type === 'paid subscription' ? notice('SUBSCRIBED', 'INITIAL_BUY') : notice('ONE_TIME_CHARGE');

/** Whether an earlier purchase of one's own stands in the way of a new one, or is what a new one continues. */
function stillCounts(purchase: Purchase, product: Product, moment: Moment): boolean {
  if (purchase.sharedFrom !== undefined) return false;
  const { productId, revocation } = latest(purchase);
  if (product.type === 'paid subscription') return moment.product(productId).group === product.group;
  return product.type === 'non consumable' && productId === product.id && revocation === undefined;
}

const priceOf = ({ order, product }: Sale): { productId: string; priceMicros: number; currency: string } => ({
  productId: product.id,
  priceMicros: order.priceMicros ?? product.priceMicros,
  currency: order.currency ?? product.currency,
});

function subscribed(sale: Sale, offer: BoughtOffer | undefined, moment: Moment): Purchase {
  const start = wholeSecond(moment.at);
  const anchor = firstAnchor(start, offer?.period ?? periodOf(sale.product));
  const price = priceOf(sale);
  const transaction = periodTransaction({ anchor, price, start, reason: 'PURCHASE', offer }, moment);
  return {
    id: transaction.transactionId,
    accountId: sale.buyer.id,
    transactions: [transaction],
    subscription: {
      state: 'ACTIVE',
      willRenew: true,
      playsRenewals: sale.order.autoRenew === true,
      renewal: price,
      anchor,
      recentStart: start,
    },
  };
}

function bought(sale: Sale, moment: Moment): Purchase {
  const transaction: Transaction = {
    transactionId: moment.nextId(),
    ...priceOf(sale),
    purchaseDate: wholeSecond(moment.at),
    quantity: sale.order.quantity ?? 1,
    reason: 'PURCHASE',
    changedAt: moment.at,
  };
  return { id: transaction.transactionId, accountId: sale.buyer.id, transactions: [transaction] };
}
