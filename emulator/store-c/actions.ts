import type { ActionDetails } from '../orders.ts';
import { refusal } from '../refusal.ts';
import { refundLatest } from './payments.ts';
import type { Product, Purchase } from './records.ts';
import { cancel, expire, failPayment, recover, renew, terminate, uncancel } from './recurrence-life.ts';

/** When something happens, with what it needs. */
export interface Happening {
  readonly at: number;
  readonly product: Product;
  readonly details: ActionDetails;
}

/** What can happen to a purchase at this store. */
export const actions: Readonly<Record<string, (purchase: Purchase, happening: Happening) => Purchase>> = {
  renew: (purchase, { at, product }) => renew(purchase, at, product),
  cancel: (purchase, { at }) => cancel(purchase, at),
  uncancel: (purchase, { at }) => uncancel(purchase, at),
  'fail-payment': (purchase, { at, details }) => failPayment(purchase, at, details.grace),
  recover: (purchase, { at, product }) => recover(purchase, at, product),
  expire: (purchase, { at }) => (purchase.recurrence ? expire(purchase, at) : expireItem(purchase, at)),
  refund: (purchase, { at }) => (purchase.recurrence ? terminate(purchase, at, true) : takeBack(purchase, at, true)),
  revoke: (purchase, { at }) => (purchase.recurrence ? terminate(purchase, at, false) : takeBack(purchase, at, false)),
};

function expireItem(purchase: Purchase, at: number): Purchase {
  const { item } = purchase;
  if (item.endDate === undefined || item.endDate <= at || item.status !== 'Active') {
    throw refusal(422, `${purchase.id} has no end to come.`);
  }
  return { ...purchase, item: { ...item, endDate: at, modifiedDate: at } };
}

/** The store takes an item away; a refund of what is used up already only shows among the orders. */
function takeBack(purchase: Purchase, at: number, isRefunded: boolean): Purchase {
  const { item, id } = purchase;
  if (item.status === 'Revoked') throw refusal(422, `${id} is Revoked already.`);
  const isUsedUp = item.quantity === 0;
  const paidBack = isRefunded ? refundLatest(purchase, at, isUsedUp ? 'Revoked' : 'Refunded') : purchase;
  if (isUsedUp) return paidBack;
  return { ...paidBack, item: { ...item, status: 'Revoked', modifiedDate: at } };
}
