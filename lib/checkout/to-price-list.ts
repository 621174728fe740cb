import * as v from 'valibot';
import { withPlatform } from '../foundation/platform.ts';
import { isOwnMetadata, type MappingContext, toOfferId } from '../stores/stripe/mapping-context.ts';
import { toCurrencyCode, toMicros } from '../stores/stripe/money.ts';
import { type Price, Product } from '../stores/stripe/payloads.ts';
import { toProductType } from '../stores/stripe/product-type.ts';
import type { PriceListOffer, PriceListProduct, PricingPhase } from './contract.ts';

/**
 * Builds the price list of an app: its active products with one offer for each active price. Excludes tiered prices and
 * other apps' products.
 *
 * @see https://docs.stripe.com/api/prices
 */
export function toPriceList(
  prices: readonly Price[],
  context: Pick<MappingContext, 'platform' | 'appName'>,
): PriceListProduct[] {
  const byProduct = new Map<string, { readonly product: Product; readonly prices: Price[] }>();
  for (const price of prices) {
    const product = parseActiveProduct(price);
    if (!product || !isOwnMetadata(context, product.metadata) || getUnitAmount(price) === undefined) continue;
    const entry = byProduct.get(product.id) ?? { product, prices: [] };
    entry.prices.push(price);
    byProduct.set(product.id, entry);
  }
  return [...byProduct.values()].map((entry) => toPriceListProduct(entry, context));
}

/**
 * Returns the expanded product of a price. Returns undefined if it is inactive, or deleted (Stripe then returns little
 * more than its id).
 */
export function parseActiveProduct({ product }: Price): Product | undefined {
  const result = v.safeParse(Product, product);
  return result.success && result.output.active ? result.output : undefined;
}

function toPriceListProduct(
  { product, prices }: { readonly product: Product; readonly prices: readonly Price[] },
  context: Pick<MappingContext, 'platform' | 'appName'>,
): PriceListProduct {
  const { id, name, description, metadata } = product;
  // Developers can use their own types, which their clients expect in the price list.
  const type = metadata?.product_type ?? toProductType(product, prices[0]);
  return {
    type,
    id,
    title: name,
    ...(description !== null && { description }),
    ...(metadata && { metadata }),
    platform: context.platform,
    offers: prices.map((price) => toPriceListOffer(price, { productId: id, type, context })),
  };
}

function toPriceListOffer(
  price: Price,
  { productId, type, context }: { productId: string; type: string; context: Pick<MappingContext, 'platform'> },
): PriceListOffer {
  return {
    id: toOfferId(context, productId, price.id),
    productId: withPlatform(context.platform, productId),
    productType: type,
    platform: context.platform,
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

/** Returns the free trial of a price in days. Newer Stripe accounts configure it in the metadata of the price. */
export function getTrialDays({ recurring, metadata }: Price): number {
  const days = recurring?.trial_period_days ?? Number(metadata?.trial_period_days ?? 0);
  return recurring && Number.isInteger(days) && days > 0 && days <= 730 ? days : 0;
}

/**
 * Returns the amount in the currency's smallest unit, which can have decimals. Returns undefined for a tiered price.
 */
function getUnitAmount({ unit_amount, unit_amount_decimal }: Price): number | undefined {
  if (unit_amount !== null) return unit_amount;
  const amount = Number(String(unit_amount_decimal ?? 'none'));
  return Number.isFinite(amount) ? amount : undefined;
}
