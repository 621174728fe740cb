import { randomBytes, randomInt } from 'node:crypto';
import { addPeriod, type Period } from '../calendar.ts';
import { requireSubscription } from './purchase-transition.ts';
import type { Order, Purchase, Subscription } from './records.ts';

const digits = (count: number): string => String(randomInt(10 ** count)).padStart(count, '0');

/** The order id of a new purchase; renewals append their number to it. */
export const generateOrderId = (): string => `GPA.${digits(4)}-${digits(4)}-${digits(4)}-${digits(5)}`;

const letters = 'abcdefghijklmnop';

/** A new purchase token. */
export const generatePurchaseToken = (): string =>
  `${[...randomBytes(24)].map((byte) => letters[byte % letters.length]).join('')}.AO-J1O${randomBytes(64).toString('base64url')}`;

/** When the period of an anchor ends. */
export const getPeriodEnd = ({ date, period, periods }: Subscription['anchor']): number =>
  addPeriod(date, period, periods);

/** The period after the current one, without a gap. */
export function advanceAnchor({ anchor }: Subscription, period: Period): Subscription['anchor'] {
  if (anchor.period === period) return { ...anchor, periods: anchor.periods + 1 };
  return { date: getPeriodEnd(anchor), period, periods: 1 };
}

interface Renewal {
  readonly at: number;
  readonly state: 'PENDING' | 'PROCESSED';
  readonly priceMicros: number;
  readonly service: { readonly start: number; readonly end: number };
}

/** The order for one more period of a subscription. */
export function buildRenewalOrder(purchase: Purchase, { at, state, priceMicros, service }: Renewal): Order {
  const [first] = purchase.orders;
  if (first === undefined) throw new Error(`The purchase ${purchase.id} has no order`);
  const { currency } = requireSubscription(purchase);
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
export function getLatestOrder({ id, orders }: Purchase): Order {
  const order = orders.at(-1);
  if (order === undefined) throw new Error(`The purchase ${id} has no order`);
  return order;
}

/** The latest order that was paid, even if the money went back since. */
export const findLatestPaidOrder = ({ orders }: Purchase): Order | undefined =>
  orders.findLast(({ state }) => state !== 'PENDING' && state !== 'CANCELED');
