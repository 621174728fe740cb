import type Stripe from 'stripe';
import type { Period } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { getId, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { buildPrice, buildProduct, type CreationInfo } from './catalogue.ts';
import { toMinorUnits } from './money.ts';

type PriceRequest = Pick<PurchaseOrder, 'productId' | 'type' | 'priceMicros' | 'currency' | 'period'>;

/** The price that an order asks for, of a product that is made when there is none. */
export function getOrCreatePrice(shop: AccountState, wanted: PriceRequest, made: CreationInfo): Stripe.Price {
  const { productId, type } = wanted;
  const { objects } = shop.books;
  const { priceMicros = 4_990_000, currency = 'USD', period = 'P1M' } = wanted;
  const recurring = type === 'paid subscription' ? toRecurring(period) : null;
  const amount = toMinorUnits(priceMicros, currency);
  if (!objects.products.has(productId)) addProduct(shop, { id: productId, metadata: { product_type: type } }, made);
  const prices = [...objects.prices.values()].filter(
    (price) => getId(price.product) === productId && price.active && price.livemode === made.livemode,
  );
  const asked = wanted.priceMicros !== undefined || wanted.currency !== undefined || wanted.period !== undefined;
  const fitting = prices.find((price) =>
    asked
      ? price.unit_amount === amount &&
        price.currency === currency.toLowerCase() &&
        samePeriod(price.recurring, recurring)
      : (price.recurring === null) === (recurring === null),
  );
  if (fitting) return fitting;
  const price = buildPrice({ product: productId, currency, amount, recurring }, made);
  emitEvent(shop, 'price.created', { purchaseId: productId, at: made.at, object: price });
  return saveObject(shop.books, 'prices', price);
}

function addProduct(
  shop: AccountState,
  { id, metadata }: Pick<Stripe.Product, 'id' | 'metadata'>,
  made: CreationInfo,
): void {
  const product = saveObject(shop.books, 'products', buildProduct({ id, name: id, metadata }, made));
  emitEvent(shop, 'product.created', { purchaseId: id, at: made.at, object: product });
}

const samePeriod = (a: Stripe.Price.Recurring | null, b: ReturnType<typeof toRecurring> | null): boolean =>
  a?.interval === b?.interval && a?.interval_count === b?.interval_count;

const intervals = { D: 'day', W: 'week', M: 'month', Y: 'year' } as const;

function toRecurring(period: Period) {
  const [, count, unit] = /^P(\d+)([DWMY])$/.exec(period) ?? [];
  if (unit === undefined)
    throw controlError(422, `period: the processor bills by days, weeks, months or years, not by ${period}.`);
  return { interval: intervals[unit as keyof typeof intervals], interval_count: Number(count) };
}
