import type { ActionDetails } from '../orders.ts';
import { refusal } from '../refusal.ts';
import { dueStep, expire, failPayment } from './billing.ts';
import type { Books } from './books.ts';
import { productOf, stock } from './catalogue.ts';
import { type Change, type Moment, subscriptionOf } from './change.ts';
import { declineRefund, extend, redeemOffer, requestRefund, reverseRefund } from './favours.ts';
import { changePlan } from './plan-change.ts';
import { latest, type Product, type Purchase } from './records.ts';
import { recover, renew } from './renewal.ts';
import { refund, revoke } from './revocation.ts';
import { acceptPrice, cancel, raisePrice, uncancel } from './wishes.ts';

/** Something that happens to a purchase, and to the shares of it that families have. */
export interface Action {
  readonly step: (purchase: Purchase, moment: Moment, details: ActionDetails) => Change;
  /** What happens to the shares at the same moment; absent when it does not concern them. */
  readonly followed?: Action['step'];
}

/** What can happen to a purchase at this store; sharing apart, which makes a new one. */
export const actionsOn = (books: Books): Readonly<Record<string, Action>> => ({
  renew: both(renew),
  cancel: both(cancel),
  uncancel: both(uncancel),
  'fail-payment': both((purchase, moment, { grace }) => failPayment(purchase, moment, grace)),
  recover: both(recover),
  expire: both(expire),
  refund: { step: (purchase, moment, { transactionId }) => refund(purchase, moment, transactionId), followed: revoke },
  revoke: both(revoke),
  'change-plan': both((purchase, moment, details) =>
    changePlan(purchase, wantedPlan(books, purchase, details), moment),
  ),
  'raise-price': { step: (purchase, _moment, { priceMicros }) => raisePrice(purchase, priceMicros) },
  'accept-price': { step: acceptPrice },
  extend: both((purchase, moment, { period }) => extend(purchase, moment, period)),
  'redeem-offer': { step: (purchase, moment, { priceMicros }) => redeemOffer(purchase, moment, priceMicros) },
  'request-refund': { step: requestRefund },
  'decline-refund': { step: declineRefund },
  'reverse-refund': { step: (purchase, moment, { transactionId }) => reverseRefund(purchase, moment, transactionId) },
});

/** What happens to a purchase by itself when it is due. */
export const dueAction = (purchase: Purchase): Action => both(dueStep(purchase));

const both = (step: Action['step']): Action => ({ step, followed: step });

function wantedPlan(books: Books, purchase: Purchase, { productId, ...terms }: ActionDetails): Product {
  if (productId === undefined) throw refusal(400, 'productId: change-plan needs the product to change to.');
  const known = books.products.get(productId);
  if (known !== undefined) return known;
  subscriptionOf(purchase);
  const { group = '' } = books.products.get(latest(purchase).productId) ?? {};
  return stock(books, productOf({ ...terms, productId, type: 'paid subscription' }, group));
}
