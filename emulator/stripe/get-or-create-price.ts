import type Stripe from 'stripe';
import type { Period } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { PurchaseOrder } from '../purchase-order.ts';
import { getId, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { buildPrice, buildProduct, type CreationInfo, isMetered } from './catalogue.ts';
import { toMinorUnits } from './money.ts';

/** Product and terms of a price. */
export type PriceRequest = Pick<
  PurchaseOrder,
  'productId' | 'type' | 'priceMicros' | 'currency' | 'period' | 'metered'
>;

/** Finds the price of an order. Creates the product and the price if they do not exist. */
export function getOrCreatePrice(state: AccountState, request: PriceRequest, info: CreationInfo): Stripe.Price {
  const { productId, type } = request;
  const { objects } = state.records;
  const { priceMicros = 4_990_000, currency = 'USD', period = 'P1M', metered = false } = request;
  const recurring = type === 'paid subscription' ? toRecurring(period) : null;
  const amount = toMinorUnits(priceMicros, currency);
  if (!objects.products.has(productId)) addProduct(state, { id: productId, metadata: { product_type: type } }, info);
  const prices = [...objects.prices.values()].filter(
    (price) =>
      getId(price.product) === productId &&
      price.active &&
      price.livemode === info.livemode &&
      isMetered(price) === metered,
  );
  const hasTerms = request.priceMicros !== undefined || request.currency !== undefined || request.period !== undefined;
  const matching = prices.find((price) =>
    hasTerms
      ? price.unit_amount === amount &&
        price.currency === currency.toLowerCase() &&
        isSamePeriod(price.recurring, recurring)
      : (price.recurring === null) === (recurring === null),
  );
  if (matching) return matching;
  const price = buildPrice({ product: productId, currency, amount, recurring, hasUsage: metered }, info);
  emitEvent(state, 'price.created', { purchaseId: productId, at: info.at, object: price });
  return saveObject(state.records, 'prices', price);
}

function addProduct(
  state: AccountState,
  { id, metadata }: Pick<Stripe.Product, 'id' | 'metadata'>,
  info: CreationInfo,
): void {
  const product = saveObject(state.records, 'products', buildProduct({ id, name: id, metadata }, info));
  emitEvent(state, 'product.created', { purchaseId: id, at: info.at, object: product });
}

const isSamePeriod = (a: Stripe.Price.Recurring | null, b: ReturnType<typeof toRecurring> | null): boolean =>
  a?.interval === b?.interval && a?.interval_count === b?.interval_count;

const intervals = { D: 'day', W: 'week', M: 'month', Y: 'year' } as const;

function toRecurring(period: Period) {
  const [, count, unit] = /^P(\d+)([DWMY])$/.exec(period) ?? [];
  if (unit === undefined) throw controlError(422, `period must be in days, weeks, months or years: ${period}.`);
  return { interval: intervals[unit as keyof typeof intervals], interval_count: Number(count) };
}
