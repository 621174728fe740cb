import { randomBytes, randomInt } from 'node:crypto';
import { requireSubscription } from '../purchase-checks.ts';
import type { Order, Purchase } from './records.ts';

const randomDigits = (count: number): string => String(randomInt(10 ** count)).padStart(count, '0');

/** Generates the order id of a new purchase. Renewals append their number to it. */
export const generateOrderId = (): string =>
  `GPA.${randomDigits(4)}-${randomDigits(4)}-${randomDigits(4)}-${randomDigits(5)}`;

const letters = 'abcdefghijklmnop';

/** Generates a purchase token. */
export const generatePurchaseToken = (): string =>
  `${[...randomBytes(24)].map((byte) => letters[byte % letters.length]).join('')}.AO-J1O${randomBytes(64).toString('base64url')}`;

interface Renewal {
  readonly at: number;
  readonly state: 'PENDING' | 'PROCESSED';
  readonly priceMicros: number;
  /** Lines for a subscription with add-ons. */
  readonly lines?: Order['lines'];
  readonly service: { readonly start: number; readonly end: number };
}

/** Builds the order of the next period of a subscription. */
export function buildRenewalOrder(purchase: Purchase, { at, state, priceMicros, lines, service }: Renewal): Order {
  const [first] = purchase.orders;
  if (first === undefined) throw new Error(`The orders of purchase ${purchase.id} are missing`);
  const { currency } = requireSubscription(purchase);
  const amountMicros = lines?.reduce((sum, line) => sum + line.amountMicros, 0) ?? priceMicros;
  return {
    id: `${first.id}..${purchase.orders.length - 1}`,
    state,
    createdAt: at,
    changedAt: at,
    productId: purchase.productId,
    quantity: 1,
    amountMicros,
    listMicros: amountMicros,
    ...(lines && { lines }),
    currency,
    phase: 'base',
    service,
  };
}

/** Returns the latest order, paid or unpaid. */
export function getLatestOrder({ id, orders }: Purchase): Order {
  const order = orders.at(-1);
  if (order === undefined) throw new Error(`The orders of purchase ${id} are missing`);
  return order;
}

export const isPaid = (state: Order['state']): boolean => state === 'PROCESSED' || state === 'PARTIALLY_REFUNDED';

/** Finds the latest paid order, including refunded orders. */
export const findLatestPaidOrder = ({ orders }: Purchase): Order | undefined =>
  orders.findLast(({ state }) => state !== 'PENDING' && state !== 'CANCELED');
