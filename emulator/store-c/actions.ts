import { controlError } from '../control-error.ts';
import type { ActionBody } from '../purchase-order.ts';
import { refundLatestPayment } from './payments.ts';
import type { Product, Purchase } from './records.ts';
import {
  cancelRenewal,
  expire,
  failPayment,
  recover,
  renew,
  resumeRenewal,
  terminate,
} from './recurrence-transitions.ts';

/** When something happens, with what it needs. */
export interface TransitionContext {
  readonly at: number;
  readonly product: Product;
  readonly details: ActionBody;
}

/** What can happen to a purchase at this store. */
export const actions: Readonly<Record<string, (purchase: Purchase, happening: TransitionContext) => Purchase>> = {
  renew: (purchase, { at, product }) => renew(purchase, at, product),
  cancel: (purchase, { at }) => cancelRenewal(purchase, at),
  uncancel: (purchase, { at }) => resumeRenewal(purchase, at),
  'fail-payment': (purchase, { at, details }) => failPayment(purchase, at, details.grace),
  recover: (purchase, { at, product }) => recover(purchase, at, product),
  expire: (purchase, { at }) => (purchase.recurrence ? expire(purchase, at) : expireItem(purchase, at)),
  refund: (purchase, { at }) => (purchase.recurrence ? terminate(purchase, at, true) : revokeItem(purchase, at, true)),
  revoke: (purchase, { at }) =>
    purchase.recurrence ? terminate(purchase, at, false) : revokeItem(purchase, at, false),
};

function expireItem(purchase: Purchase, at: number): Purchase {
  const { item } = purchase;
  if (item.endDate === undefined || item.endDate <= at || item.status !== 'Active') {
    throw controlError(422, `${purchase.id} has no end to come.`);
  }
  return { ...purchase, item: { ...item, endDate: at, modifiedDate: at } };
}

/** The store takes an item away; a refund of what is used up already only shows among the orders. */
function revokeItem(purchase: Purchase, at: number, isRefunded: boolean): Purchase {
  const { item, id } = purchase;
  if (item.status === 'Revoked') throw controlError(422, `${id} is Revoked already.`);
  const isUsedUp = item.quantity === 0;
  const paidBack = isRefunded ? refundLatestPayment(purchase, at, isUsedUp ? 'Revoked' : 'Refunded') : purchase;
  if (isUsedUp) return paidBack;
  return { ...paidBack, item: { ...item, status: 'Revoked', modifiedDate: at } };
}
