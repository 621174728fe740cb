import { controlError } from '../control-error.ts';
import { getProduct } from '../product.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import type { AppliedOffer } from './billing-period.ts';
import { getPeriod } from './purchase-transition.ts';
import type { Account, Product } from './records.ts';
import { listPurchases, type StoreState } from './store-state.ts';

/**
 * Builds the introductory offer of an order. Throws 422 if the customer already had an offer in the subscription group.
 *
 * @see https://developer.apple.com/documentation/storekit/implementing-introductory-offers-in-your-app
 */
export function buildIntroductoryOffer(
  state: StoreState,
  order: PurchaseOrder,
  { buyer, product }: { buyer: Account; product: Product },
): AppliedOffer | undefined {
  const { trial = false, intro = false, signedOffer } = order;
  if (signedOffer?.kind === 'promotional' || signedOffer?.kind === 'promotional-v1')
    return buildPromotionalOffer(product, order, signedOffer.offerId ?? '');
  if (trial === false && intro === false) return undefined;
  if (product.type !== 'paid subscription')
    throw controlError(422, `Only subscriptions have offers; ${product.id} is a ${product.type}.`);
  if (trial !== false && intro !== false) throw controlError(400, 'trial and intro cannot be combined.');
  if (signedOffer?.kind !== 'introductory' && hasUsedIntroOffer(state, buyer, product)) {
    throw controlError(422, `This customer already had an introductory offer in the group of ${product.id}.`);
  }
  return trial === false ? buildPaidOffer(intro, product, order) : buildFreeTrial(trial, product);
}

/** Builds a promotional offer whose signature was verified: half the price of the first period. */
const buildPromotionalOffer = (product: Product, order: PurchaseOrder, code: string): AppliedOffer => ({
  discountType: 'PAY_AS_YOU_GO',
  period: getPeriod(product),
  code,
  isPromotional: true,
  priceMicros: Math.round((order.priceMicros ?? product.priceMicros) / 20_000) * 10_000,
});

const buildFreeTrial = (trial: true | string, product: Product): AppliedOffer => ({
  discountType: 'FREE_TRIAL',
  period: trial === true ? getPeriod(product) : trial,
  priceMicros: 0,
});

function buildPaidOffer(
  intro: NonNullable<PurchaseOrder['intro']>,
  product: Product,
  order: PurchaseOrder,
): AppliedOffer {
  const defaults = {
    priceMicros: Math.round((order.priceMicros ?? product.priceMicros) / 2),
    period: getPeriod(product),
  };
  const { priceMicros, period } = typeof intro === 'boolean' ? defaults : { ...defaults, ...intro };
  return { discountType: period === getPeriod(product) ? 'PAY_AS_YOU_GO' : 'PAY_UP_FRONT', period, priceMicros };
}

const hasUsedIntroOffer = (state: StoreState, buyer: Account, { group }: Product): boolean =>
  listPurchases(state, buyer.id)
    .flatMap(({ transactions }) => transactions)
    .some(
      ({ offer, productId }) =>
        offer !== undefined && offer.code === undefined && getProduct(state, productId).group === group,
    );
