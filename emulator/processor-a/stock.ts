import type Stripe from 'stripe';
import type { Period } from '../calendar.ts';
import type { Order } from '../orders.ts';
import { refusal } from '../refusal.ts';
import { enter, idOf } from './books.ts';
import { type Made, newPrice, newProduct } from './catalogue.ts';
import { minorUnits } from './money.ts';
import { type Shop, tellOf } from './shop.ts';

type Wanted = Pick<Order, 'productId' | 'type' | 'priceMicros' | 'currency' | 'period'>;

/** The price that an order asks for, of a product that is made when there is none. */
export function stock(shop: Shop, wanted: Wanted, made: Made): Stripe.Price {
  const { productId, type } = wanted;
  const { objects } = shop.books;
  const { priceMicros = 4_990_000, currency = 'USD', period = 'P1M' } = wanted;
  const recurring = type === 'paid subscription' ? recurringOf(period) : null;
  const amount = minorUnits(priceMicros, currency);
  if (!objects.products.has(productId)) addProduct(shop, { id: productId, metadata: { product_type: type } }, made);
  const prices = [...objects.prices.values()].filter(
    (price) => idOf(price.product) === productId && price.active && price.livemode === made.livemode,
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
  const price = newPrice({ product: productId, currency, amount, recurring }, made);
  tellOf(shop, 'price.created', { purchaseId: productId, at: made.at, object: price });
  return enter(shop.books, 'prices', price);
}

function addProduct(shop: Shop, { id, metadata }: Pick<Stripe.Product, 'id' | 'metadata'>, made: Made): void {
  const product = enter(shop.books, 'products', newProduct({ id, name: id, metadata }, made));
  tellOf(shop, 'product.created', { purchaseId: id, at: made.at, object: product });
}

const samePeriod = (a: Stripe.Price.Recurring | null, b: ReturnType<typeof recurringOf> | null): boolean =>
  a?.interval === b?.interval && a?.interval_count === b?.interval_count;

const intervals = { D: 'day', W: 'week', M: 'month', Y: 'year' } as const;

function recurringOf(period: Period) {
  const [, count, unit] = /^P(\d+)([DWMY])$/.exec(period) ?? [];
  if (unit === undefined)
    throw refusal(422, `period: the processor bills by days, weeks, months or years, not by ${period}.`);
  return { interval: intervals[unit as keyof typeof intervals], interval_count: Number(count) };
}
