import { randomBytes, randomInt } from 'node:crypto';
import { addPeriod, type Period } from '../calendar.ts';
import { subscriptionOf } from './change.ts';
import type { PlacedOrder, Purchase, Subscription } from './records.ts';

const digits = (count: number): string => String(randomInt(10 ** count)).padStart(count, '0');

/** The order id of a new purchase; renewals append their number to it. */
export const newOrderId = (): string => `GPA.${digits(4)}-${digits(4)}-${digits(4)}-${digits(5)}`;

const letters = 'abcdefghijklmnop';

/** A new purchase token. */
export const newToken = (): string =>
  `${[...randomBytes(24)].map((byte) => letters[byte % letters.length]).join('')}.AO-J1O${randomBytes(64).toString('base64url')}`;

/** When the period of an anchor ends. */
export const endOf = ({ date, period, periods }: Subscription['anchor']): number => addPeriod(date, period, periods);

/** The period after the current one, without a gap. */
export function nextAnchor({ anchor }: Subscription, period: Period): Subscription['anchor'] {
  if (anchor.period === period) return { ...anchor, periods: anchor.periods + 1 };
  return { date: endOf(anchor), period, periods: 1 };
}

interface Renewal {
  readonly at: number;
  readonly state: 'PENDING' | 'PROCESSED';
  readonly priceMicros: number;
  readonly service: { readonly start: number; readonly end: number };
}

/** The order for one more period of a subscription. */
export function renewalOrder(purchase: Purchase, { at, state, priceMicros, service }: Renewal): PlacedOrder {
  const [first] = purchase.orders;
  if (first === undefined) throw new Error(`The purchase ${purchase.id} has no order`);
  const { currency } = subscriptionOf(purchase);
  return {
    id: `${first.id}..${purchase.orders.length - 1}`,
    state,
    createdAt: at,
    changedAt: at,
    productId: purchase.productId,
    quantity: 1,
    amountMicros: priceMicros,
    listMicros: priceMicros,
    currency,
    phase: 'base',
    service,
  };
}

/** The latest order, paid or not. */
export function latestOrder({ id, orders }: Purchase): PlacedOrder {
  const order = orders.at(-1);
  if (order === undefined) throw new Error(`The purchase ${id} has no order`);
  return order;
}

/** The latest order that was paid, even if the money went back since. */
export const latestPaidOrder = ({ orders }: Purchase): PlacedOrder | undefined =>
  orders.findLast(({ state }) => state !== 'PENDING' && state !== 'CANCELED');
