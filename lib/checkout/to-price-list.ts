import * as v from 'valibot';
import type { PriceListOffer, PriceListProduct, PricingPhase } from '../api/processor-a.ts';
import { withPlatform } from '../shared/platform.ts';
import { type MappingContext, toOfferId } from '../stores/processor-a/mapping-context.ts';
import { toCurrencyCode, toMicros } from '../stores/processor-a/money.ts';
import { type Price, Product } from '../stores/processor-a/payloads.ts';
import { toProductType } from '../stores/processor-a/product-type.ts';

/**
 * The price list of an application: its active products with their active prices, one offer a price. Prices without one
 * amount (tiers) and products of other applications are left out.
 */
export function toPriceList(
  prices: readonly Price[],
  origin: Pick<MappingContext, 'platform' | 'appName'>,
): PriceListProduct[] {
  const byProduct = new Map<string, { readonly product: Product; readonly prices: Price[] }>();
  for (const price of prices) {
    const product = parseActiveProduct(price);
    if (!product || !isSoldByApp(product, origin) || getUnitAmount(price) === undefined) continue;
    const entry = byProduct.get(product.id) ?? { product, prices: [] };
    entry.prices.push(price);
    byProduct.set(product.id, entry);
  }
  return [...byProduct.values()].map((entry) => toPriceListProduct(entry, origin));
}

/** The product that came with its price; one that was deleted comes as little more than its id. */
export function parseActiveProduct({ product }: Price): Product | undefined {
  const result = v.safeParse(Product, product);
  return result.success && result.output.active ? result.output : undefined;
}

/** Whether the application may sell the product: one that names an application belongs to that one. */
export const isSoldByApp = ({ metadata }: Product, { appName }: Pick<MappingContext, 'appName'>): boolean =>
  metadata?.app === undefined || metadata.app === appName;

function toPriceListProduct(
  { product, prices }: { readonly product: Product; readonly prices: readonly Price[] },
  origin: Pick<MappingContext, 'platform' | 'appName'>,
): PriceListProduct {
  const { id, name, description, metadata } = product;
  // Sellers may use words of their own, which their clients then look for.
  const type = metadata?.product_type ?? toProductType(product, prices[0]);
  return {
    type,
    id,
    title: name,
    ...(description !== null && { description }),
    ...(metadata && { metadata }),
    platform: origin.platform,
    offers: prices.map((price) => toPriceListOffer(price, { productId: id, type, origin })),
  };
}

function toPriceListOffer(
  price: Price,
  { productId, type, origin }: { productId: string; type: string; origin: Pick<MappingContext, 'platform'> },
): PriceListOffer {
  return {
    id: toOfferId(origin, productId, price.id),
    productId: withPlatform(origin.platform, productId),
    productType: type,
    platform: origin.platform,
    offerType: price.recurring ? 'Subscription' : 'Default',
    pricingPhases: toPricingPhases(price),
  };
}

const units: Readonly<Record<string, string>> = { day: 'D', week: 'W', month: 'M', year: 'Y' };

function toPricingPhases(price: Price): PricingPhase[] {
  const { recurring } = price;
  const currency = toCurrencyCode(price.currency);
  const paidPhase = { priceMicros: toMicros(getUnitAmount(price) ?? 0, price.currency), currency };
  if (!recurring) return [{ ...paidPhase, recurrenceMode: 'NON_RECURRING', paymentMode: 'UpFront' }];
  const billingPeriod = `P${recurring.interval_count}${units[recurring.interval] ?? 'M'}`;
  const days = getTrialDays(price);
  return [
    ...(days > 0
      ? [
          {
            priceMicros: 0,
            currency,
            billingPeriod: `P${days}D`,
            recurrenceMode: 'FINITE_RECURRING' as const,
            paymentMode: 'FreeTrial' as const,
          },
        ]
      : []),
    { ...paidPhase, billingPeriod, recurrenceMode: 'INFINITE_RECURRING', paymentMode: 'PayAsYouGo' },
  ];
}

/** Days of free trial that the price says: by itself, or in its metadata where newer accounts have to write it. */
export function getTrialDays({ recurring, metadata }: Price): number {
  const days = recurring?.trial_period_days ?? Number(metadata?.trial_period_days ?? 0);
  return recurring && Number.isInteger(days) && days > 0 && days <= 730 ? days : 0;
}

/** In the smallest unit of the currency, with a fraction where the price has one. */
function getUnitAmount({ unit_amount, unit_amount_decimal }: Price): number | undefined {
  if (unit_amount !== null) return unit_amount;
  const amount = Number(String(unit_amount_decimal ?? 'none'));
  return Number.isFinite(amount) ? amount : undefined;
}
