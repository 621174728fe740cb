import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import type { AppliedOffer } from './billing-period.ts';
import { getPeriod } from './purchase-transition.ts';
import type { Account, Product } from './records.ts';
import { getProduct, listPurchases, type StoreState } from './store-state.ts';

/** The introductory offer that the order asks for; refuses a customer who had one in the group before. */
export function buildIntroductoryOffer(
  state: StoreState,
  order: PurchaseOrder,
  { buyer, product }: { buyer: Account; product: Product },
): AppliedOffer | undefined {
  const { trial = false, intro = false } = order;
  if (trial === false && intro === false) return undefined;
  if (product.type !== 'paid subscription')
    throw controlError(422, `Only subscriptions have offers, not a ${product.type}.`);
  if (trial !== false && intro !== false)
    throw controlError(400, 'A first period is either a trial or an intro, not both.');
  if (hasUsedIntroOffer(state, buyer, product)) {
    throw controlError(422, `This customer had an introductory offer in the group of ${product.id} before.`);
  }
  return trial === false ? paidOffer(intro, product, order) : freeTrial(trial, product);
}

const freeTrial = (trial: true | string, product: Product): AppliedOffer => ({
  discountType: 'FREE_TRIAL',
  period: trial === true ? getPeriod(product) : trial,
  priceMicros: 0,
});

function paidOffer(intro: NonNullable<PurchaseOrder['intro']>, product: Product, order: PurchaseOrder): AppliedOffer {
  const usual = { priceMicros: Math.round((order.priceMicros ?? product.priceMicros) / 2), period: getPeriod(product) };
  const { priceMicros, period } = typeof intro === 'boolean' ? usual : { ...usual, ...intro };
  return { discountType: period === getPeriod(product) ? 'PAY_AS_YOU_GO' : 'PAY_UP_FRONT', period, priceMicros };
}

const hasUsedIntroOffer = (state: StoreState, buyer: Account, { group }: Product): boolean =>
  listPurchases(state, buyer.id)
    .flatMap(({ transactions }) => transactions)
    .some(
      ({ offer, productId }) =>
        offer !== undefined && offer.code === undefined && getProduct(state, productId).group === group,
    );
