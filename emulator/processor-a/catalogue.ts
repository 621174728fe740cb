import type Stripe from 'stripe';
import type { Period } from '../calendar.ts';
import type { Order } from '../orders.ts';
import { refusal } from '../refusal.ts';
import { type Books, enter, idOf, newId } from './books.ts';
import { minorUnits } from './money.ts';

interface Made {
  readonly at: number;
  readonly livemode: boolean;
}

/** A product without prices. */
export const newProduct = (
  {
    id,
    name,
    metadata = {},
    description = null,
  }: { id: string; name: string; metadata?: Stripe.Metadata; description?: string | null },
  { at, livemode }: Made,
): Stripe.Product => ({
  id,
  object: 'product',
  active: true,
  created: seconds(at),
  default_price: null,
  description,
  images: [],
  livemode,
  marketing_features: [],
  metadata,
  name,
  package_dimensions: null,
  shippable: null,
  statement_descriptor: null,
  tax_code: null,
  tax_details: null,
  type: 'service',
  unit_label: null,
  updated: seconds(at),
  url: null,
});

interface PriceTerms {
  readonly product: string;
  readonly currency: string;
  /** In the smallest unit of the currency. */
  readonly amount: number;
  readonly recurring: Pick<Stripe.Price.Recurring, 'interval' | 'interval_count'> | null;
  readonly trialDays?: number | null;
  readonly metadata?: Stripe.Metadata;
}

/** A price of a product. */
export const newPrice = (
  { product, currency, amount, recurring, trialDays = null, metadata = {} }: PriceTerms,
  { at, livemode }: Made,
): Stripe.Price => ({
  id: newId('price'),
  object: 'price',
  active: true,
  billing_scheme: 'per_unit',
  created: seconds(at),
  currency: currency.toLowerCase(),
  custom_unit_amount: null,
  livemode,
  lookup_key: null,
  metadata,
  nickname: null,
  product,
  recurring: recurring && { ...recurring, meter: null, trial_period_days: trialDays, usage_type: 'licensed' },
  tax_behavior: 'unspecified',
  tiers_mode: null,
  transform_quantity: null,
  type: recurring ? 'recurring' : 'one_time',
  unit_amount: amount,
  // Decimals travel as text; the client makes its own numbers of them.
  unit_amount_decimal: String(amount) as unknown as Stripe.Price['unit_amount_decimal'],
});

/** The price that an order asks for, of a product that is made when there is none. */
export function stock(
  books: Books,
  order: Pick<Order, 'productId' | 'type' | 'priceMicros' | 'currency' | 'period'>,
  made: Made,
): Stripe.Price {
  const { productId, type } = order;
  if (!books.objects.products.has(productId)) {
    const metadata = { product_type: type };
    enter(books, 'products', newProduct({ id: productId, name: productId, metadata }, made));
  }
  const asked = order.priceMicros !== undefined || order.currency !== undefined || order.period !== undefined;
  const prices = [...books.objects.prices.values()].filter(
    (price) => idOf(price.product) === productId && price.active && price.livemode === made.livemode,
  );
  const { priceMicros = 4_990_000, currency = 'USD', period = 'P1M' } = order;
  const recurring = type === 'paid subscription' ? recurringOf(period) : null;
  const amount = minorUnits(priceMicros, currency);
  const fitting = prices.find((price) =>
    asked
      ? price.unit_amount === amount &&
        price.currency === currency.toLowerCase() &&
        samePeriod(price.recurring, recurring)
      : (price.recurring === null) === (recurring === null),
  );
  return fitting ?? enter(books, 'prices', newPrice({ product: productId, currency, amount, recurring }, made));
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

const letters: Readonly<Record<string, string>> = { day: 'D', week: 'W', month: 'M', year: 'Y' };

/** How long a price lasts. */
export const periodOf = ({ recurring }: Stripe.Price): Period =>
  `P${recurring?.interval_count ?? 1}${letters[recurring?.interval ?? 'month']}`;

/** Epoch milliseconds as the processor dates things. */
export const seconds = (at: number): number => Math.floor(at / 1000);
