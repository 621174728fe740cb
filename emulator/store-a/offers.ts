import type { Order } from '../orders.ts';
import { refusal } from '../refusal.ts';
import { type Books, productNamed, purchasesOf } from './books.ts';
import { periodOf } from './change.ts';
import type { BoughtOffer } from './period.ts';
import type { Account, Product } from './records.ts';

/** The introductory offer that the order asks for; refuses a customer who had one in the group before. */
export function introductoryOffer(
  books: Books,
  order: Order,
  { buyer, product }: { buyer: Account; product: Product },
): BoughtOffer | undefined {
  const { trial = false, intro = false } = order;
  if (trial === false && intro === false) return undefined;
  if (product.type !== 'paid subscription')
    throw refusal(422, `Only subscriptions have offers, not a ${product.type}.`);
  if (trial !== false && intro !== false) throw refusal(400, 'A first period is either a trial or an intro, not both.');
  if (hadOffer(books, buyer, product)) {
    throw refusal(422, `This customer had an introductory offer in the group of ${product.id} before.`);
  }
  return trial === false ? paidOffer(intro, product, order) : freeTrial(trial, product);
}

const freeTrial = (trial: true | string, product: Product): BoughtOffer => ({
  discountType: 'FREE_TRIAL',
  period: trial === true ? periodOf(product) : trial,
  priceMicros: 0,
});

function paidOffer(intro: NonNullable<Order['intro']>, product: Product, order: Order): BoughtOffer {
  const usual = { priceMicros: Math.round((order.priceMicros ?? product.priceMicros) / 2), period: periodOf(product) };
  const { priceMicros, period } = typeof intro === 'boolean' ? usual : { ...usual, ...intro };
  return { discountType: period === periodOf(product) ? 'PAY_AS_YOU_GO' : 'PAY_UP_FRONT', period, priceMicros };
}

const hadOffer = (books: Books, buyer: Account, { group }: Product): boolean =>
  purchasesOf(books, buyer.id)
    .flatMap(({ transactions }) => transactions)
    .some(
      ({ offer, productId }) =>
        offer !== undefined && offer.code === undefined && productNamed(books, productId).group === group,
    );
