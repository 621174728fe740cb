import { controlError } from '../control-error.ts';
import type { ActionBody } from '../purchase-order.ts';
import { expire, failPayment, getDueTransition } from './billing.ts';
import { addProduct, buildProduct } from './catalogue.ts';
import {
  declineRefund,
  extendRenewalDate,
  redeemOffer,
  requestRefund,
  reverseRefund,
} from './extensions-and-refund-requests.ts';
import { changePlan } from './plan-change.ts';
import { requireSubscription, type Transition, type TransitionContext } from './purchase-transition.ts';
import { getLatestTransaction, type Product, type Purchase } from './records.ts';
import { recover, renew } from './renewal.ts';
import { acceptPriceIncrease, cancelRenewal, increasePrice, resumeRenewal } from './renewal-settings.ts';
import { refund, revoke } from './revocation.ts';
import type { StoreState } from './store-state.ts';

/** Something that happens to a purchase, and to the shares of it that families have. */
export interface Action {
  readonly apply: (purchase: Purchase, context: TransitionContext, details: ActionBody) => Transition;
  /** What happens to the shares at the same moment; absent when it does not concern them. */
  readonly applyToShares?: Action['apply'];
}

/** What can happen to a purchase at this store; sharing apart, which makes a new one. */
export const createActions = (state: StoreState): Readonly<Record<string, Action>> => ({
  renew: both(renew),
  cancel: both(cancelRenewal),
  uncancel: both(resumeRenewal),
  'fail-payment': both((purchase, context, { grace }) => failPayment(purchase, context, grace)),
  recover: both(recover),
  expire: both(expire),
  refund: {
    apply: (purchase, context, { transactionId }) => refund(purchase, context, transactionId),
    applyToShares: revoke,
  },
  revoke: both(revoke),
  'change-plan': both((purchase, context, details) =>
    changePlan(purchase, resolvePlan(state, purchase, details), context),
  ),
  'raise-price': { apply: (purchase, _moment, { priceMicros }) => increasePrice(purchase, priceMicros) },
  'accept-price': { apply: acceptPriceIncrease },
  extend: both((purchase, context, { period }) => extendRenewalDate(purchase, context, period)),
  'redeem-offer': { apply: (purchase, context, { priceMicros }) => redeemOffer(purchase, context, priceMicros) },
  'request-refund': { apply: requestRefund },
  'decline-refund': { apply: declineRefund },
  'reverse-refund': {
    apply: (purchase, context, { transactionId }) => reverseRefund(purchase, context, transactionId),
  },
});

/** What happens to a purchase by itself when it is due. */
export const getDueAction = (purchase: Purchase): Action => both(getDueTransition(purchase));

const both = (apply: Action['apply']): Action => ({ apply, applyToShares: apply });

function resolvePlan(state: StoreState, purchase: Purchase, { productId, ...terms }: ActionBody): Product {
  if (productId === undefined) throw controlError(400, 'productId: change-plan needs the product to change to.');
  const known = state.products.get(productId);
  if (known !== undefined) return known;
  requireSubscription(purchase);
  const { group = '' } = state.products.get(getLatestTransaction(purchase).productId) ?? {};
  return addProduct(state, buildProduct({ ...terms, productId, type: 'paid subscription' }, group));
}
