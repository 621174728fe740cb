import { controlError } from '../control-error.ts';
import { requireSubscription } from '../purchase-checks.ts';
import type { ActionBody } from '../purchase-order.ts';
import type { Action } from './action.ts';
import { expire, failPayment, getDueTransition } from './billing.ts';
import { addProduct, buildProduct } from './catalogue.ts';
import {
  declineRefund,
  extendRenewalDate,
  redeemOffer,
  requestRefund,
  restoreShare,
  reverseRefund,
  toConsumptionReason,
} from './extensions-and-refund-requests.ts';
import { listRefundedShares } from './family-sharing.ts';
import { finish } from './finish.ts';
import { changePlan } from './plan-change.ts';
import { getLatestTransaction, type Product, type Purchase } from './records.ts';
import { recover, renew } from './renewal.ts';
import { acceptPriceIncrease, cancelRenewal, increasePrice, resumeRenewal } from './renewal-settings.ts';
import { restore } from './restoring.ts';
import { refund, revoke, revokeRefundedShare } from './revocation.ts';
import { addSeats, refundSeats } from './seats.ts';
import { remindOfExternalPurchase, reportDeveloperChange, rescindConsent } from './store-messages.ts';
import type { StoreState } from './store-state.ts';

/** Creates the actions on an existing purchase. `share` is separate because it creates a purchase. */
export const createActions = (state: StoreState): Readonly<Record<string, Action>> => ({
  renew: applyToAll(renew),
  cancel: applyToAll(cancelRenewal),
  uncancel: applyToAll(resumeRenewal),
  'fail-payment': applyToAll(failPayment),
  recover: applyToAll(recover),
  expire: applyToAll(expire),
  refund: { apply: refund, applyToShares: revokeRefundedShare },
  'add-seats': { apply: addSeats },
  'refund-seats': { apply: refundSeats },
  revoke: applyToAll(revoke),
  finish: { apply: finish },
  restore: { apply: (purchase, context, { date }) => restore(purchase, context, date) },
  'change-plan': applyToAll((purchase, context, details) =>
    changePlan(purchase, resolvePlan(state, purchase, details), context),
  ),
  'raise-price': { apply: (purchase, _context, { priceMicros }) => increasePrice(purchase, priceMicros) },
  'accept-price': { apply: acceptPriceIncrease },
  extend: applyToAll((purchase, context, { period }) => extendRenewalDate(purchase, context, period)),
  'redeem-offer': { apply: (purchase, context, { priceMicros }) => redeemOffer(purchase, context, priceMicros) },
  'request-refund': {
    apply: (purchase, _context, { transactionId, reason }) =>
      requestRefund(purchase, { transactionId, reason: toConsumptionReason(reason) }),
  },
  'decline-refund': { apply: declineRefund },
  'reverse-refund': {
    apply: (purchase, context, { transactionId }) => reverseRefund(purchase, context, transactionId),
    applyToShares: restoreShare,
    listShares: listRefundedShares,
  },
  'rescind-consent': { apply: rescindConsent },
  'external-purchase-token': {
    apply: (purchase, context, { reason }) => remindOfExternalPurchase(purchase, context, reason),
  },
  'update-metadata': { apply: (purchase) => reportDeveloperChange(purchase, 'METADATA_UPDATE') },
  migrate: { apply: (purchase) => reportDeveloperChange(purchase, 'MIGRATION') },
  'change-price': { apply: (purchase) => reportDeveloperChange(purchase, 'PRICE_CHANGE') },
});

/** Returns the scheduled action of a purchase that is due. */
export const getDueAction = (purchase: Purchase): Action => applyToAll(getDueTransition(purchase));

const applyToAll = (apply: Action['apply']): Action => ({ apply, applyToShares: apply });

function resolvePlan(state: StoreState, purchase: Purchase, { productId, ...terms }: ActionBody): Product {
  if (productId === undefined) throw controlError(400, 'productId: change-plan requires the new product.');
  const existing = state.products.get(productId);
  if (existing !== undefined) return existing;
  requireSubscription(purchase);
  const { group = '' } = state.products.get(getLatestTransaction(purchase).productId) ?? {};
  return addProduct(state, buildProduct({ ...terms, productId, type: 'paid subscription' }, group));
}
