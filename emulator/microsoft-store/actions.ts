import { controlError } from '../control-error.ts';
import type { Product } from '../product.ts';
import type { ActionBody } from '../purchase-order.ts';
import type { Purchase } from './records.ts';
import {
  cancelRenewal,
  expire,
  failPayment,
  recover,
  renew,
  resumeRenewal,
  terminate,
} from './recurrence-transitions.ts';
import { chargeBack, refund, reverseChargeback } from './take-back.ts';

/** Time of a transition with the product of the purchase and the body of the action. */
export interface TransitionContext {
  readonly at: number;
  readonly product: Product;
  readonly details: ActionBody;
}

/** Actions on a purchase. */
export const actions: Readonly<Record<string, (purchase: Purchase, context: TransitionContext) => Purchase>> = {
  renew: (purchase, { at, product }) => renew(purchase, at, product),
  cancel: (purchase, { at }) => cancelRenewal(purchase, at),
  uncancel: (purchase, { at }) => resumeRenewal(purchase, at),
  'fail-payment': (purchase, { at, details }) => failPayment(purchase, at, details.grace),
  recover: (purchase, { at, product }) => recover(purchase, at, product),
  expire: (purchase, { at }) => (purchase.recurrence ? expire(purchase, at) : expireItem(purchase, at)),
  consume: (purchase, { at }) => consumeOnDevice(purchase, at),
  refund: (purchase, { at, details }) => refund(purchase, at, details),
  chargeback: (purchase, { at }) => chargeBack(purchase, at),
  'reverse-chargeback': (purchase, { at }) => reverseChargeback(purchase, at),
  revoke: (purchase, { at }) => (purchase.recurrence ? terminate(purchase, at) : revokeItem(purchase, at)),
};

function expireItem(purchase: Purchase, at: number): Purchase {
  const { item } = purchase;
  if (item.endDate === undefined || item.endDate <= at || item.status !== 'Active') {
    throw controlError(422, `${purchase.id} does not have a future end.`);
  }
  return { ...purchase, item: { ...item, endDate: at, modifiedDate: at } };
}

/** Consumes the balance of a consumable on the customer's device. */
function consumeOnDevice(purchase: Purchase, at: number): Purchase {
  const { item, id } = purchase;
  if (item.kind === 'Durable') throw controlError(422, `${id} is not a consumable.`);
  if (item.quantity === 0) throw controlError(422, `${id} is already consumed.`);
  return { ...purchase, item: { ...item, quantity: 0, modifiedDate: at } };
}

/** Revokes an item without a refund. A consumed item is not in the collection. */
function revokeItem(purchase: Purchase, at: number): Purchase {
  const { item, id } = purchase;
  if (item.status === 'Revoked') throw controlError(422, `${id} is already Revoked.`);
  return item.quantity === 0 ? purchase : { ...purchase, item: { ...item, status: 'Revoked', modifiedDate: at } };
}
