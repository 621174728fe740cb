import type { ActionBody } from '../purchase-order.ts';
import { controlError } from '../control-error.ts';
import { expire, failPayment, getDueTransition } from './billing.ts';
import type { StoreState } from './store-state.ts';
import { addProduct, buildProduct } from './catalogue.ts';
import { requireSubscription, type Transition, type TransitionContext } from './purchase-transition.ts';
import { declineRefund, extendRenewalDate, redeemOffer, requestRefund, reverseRefund } from './extensions-and-refund-requests.ts';
import { changePlan } from './plan-change.ts';
import { getLatestTransaction, type Product, type Purchase } from './records.ts';
import { recover, renew } from './renewal.ts';
import { refund, revoke } from './revocation.ts';
import { acceptPriceIncrease, cancelRenewal, increasePrice, resumeRenewal } from './renewal-settings.ts';

/** Something that happens to a purchase, and to the shares of it that families have. */
export interface Action {
  readonly apply: (purchase: Purchase, moment: TransitionContext, details: ActionBody) => Transition;
  /** What happens to the shares at the same moment; absent when it does not concern them. */
  readonly applyToShares?: Action['apply'];
}

/** What can happen to a purchase at this store; sharing apart, which makes a new one. */
export const createActions = (books: StoreState): Readonly<Record<string, Action>> => ({
  renew: both(renew),
  cancel: both(cancelRenewal),
  uncancel: both(resumeRenewal),
  'fail-payment': both((purchase, moment, { grace }) => failPayment(purchase, moment, grace)),
  recover: both(recover),
  expire: both(expire),
  refund: {
    apply: (purchase, moment, { transactionId }) => refund(purchase, moment, transactionId),
    applyToShares: revoke,
  },
  revoke: both(revoke),
  'change-plan': both((purchase, moment, details) =>
    changePlan(purchase, resolvePlan(books, purchase, details), moment),
  ),
  'raise-price': { apply: (purchase, _moment, { priceMicros }) => increasePrice(purchase, priceMicros) },
  'accept-price': { apply: acceptPriceIncrease },
  extend: both((purchase, moment, { period }) => extendRenewalDate(purchase, moment, period)),
  'redeem-offer': { apply: (purchase, moment, { priceMicros }) => redeemOffer(purchase, moment, priceMicros) },
  'request-refund': { apply: requestRefund },
  'decline-refund': { apply: declineRefund },
  'reverse-refund': { apply: (purchase, moment, { transactionId }) => reverseRefund(purchase, moment, transactionId) },
});

/** What happens to a purchase by itself when it is due. */
export const getDueAction = (purchase: Purchase): Action => both(getDueTransition(purchase));

const both = (step: Action['apply']): Action => ({ apply: step, applyToShares: step });

function resolvePlan(books: StoreState, purchase: Purchase, { productId, ...terms }: ActionBody): Product {
  if (productId === undefined) throw controlError(400, 'productId: change-plan needs the product to change to.');
  const known = books.products.get(productId);
  if (known !== undefined) return known;
  requireSubscription(purchase);
  const { group = '' } = books.products.get(getLatestTransaction(purchase).productId) ?? {};
  return addProduct(books, buildProduct({ ...terms, productId, type: 'paid subscription' }, group));
}
