import type Stripe from 'stripe';
import { type Period, secondMs } from '../calendar.ts';
import { generateId } from './account-objects.ts';

/** Creation time and mode of an object. */
export interface CreationInfo {
  readonly at: number;
  readonly livemode: boolean;
}

/** Creates a product without prices. */
export const buildProduct = (
  {
    id,
    name,
    metadata = {},
    description = null,
  }: { id: string; name: string; metadata?: Stripe.Metadata; description?: string | null },
  { at, livemode }: CreationInfo,
): Stripe.Product => ({
  id,
  object: 'product',
  active: true,
  created: toSeconds(at),
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
  updated: toSeconds(at),
  url: null,
});

interface PriceTerms {
  readonly product: string;
  readonly currency: string;
  /** In the smallest unit of the currency. */
  readonly amount: number;
  readonly recurring: Pick<Stripe.Price.Recurring, 'interval' | 'interval_count'> | null;
  readonly hasUsage?: boolean;
  readonly trialDays?: number | null;
  readonly metadata?: Stripe.Metadata;
}

/** Creates a price of a product. */
export const buildPrice = (
  { product, currency, amount, recurring, hasUsage = false, trialDays = null, metadata = {} }: PriceTerms,
  { at, livemode }: CreationInfo,
): Stripe.Price => ({
  id: generateId('price'),
  object: 'price',
  active: true,
  billing_scheme: 'per_unit',
  created: toSeconds(at),
  currency: currency.toLowerCase(),
  custom_unit_amount: null,
  livemode,
  lookup_key: null,
  metadata,
  nickname: null,
  product,
  recurring: recurring && {
    ...recurring,
    meter: hasUsage ? generateId('mtr') : null,
    trial_period_days: trialDays,
    usage_type: hasUsage ? 'metered' : 'licensed',
  },
  tax_behavior: 'unspecified',
  tiers_mode: null,
  transform_quantity: null,
  type: recurring ? 'recurring' : 'one_time',
  unit_amount: amount,
  // The API returns decimals as text. The Stripe client converts them.
  unit_amount_decimal: String(amount) as unknown as Stripe.Price['unit_amount_decimal'],
});

/** Units are billed at the end of the period in which they were used. */
export const isMetered = ({ recurring }: Stripe.Price): boolean => recurring?.usage_type === 'metered';

const letters: Readonly<Record<string, string>> = { day: 'D', week: 'W', month: 'M', year: 'Y' };

/** Returns the billing period of a price. */
export const getPeriod = ({ recurring }: Stripe.Price): Period =>
  `P${recurring?.interval_count ?? 1}${letters[recurring?.interval ?? 'month']}`;

/** Converts epoch milliseconds to Stripe's epoch seconds. */
export const toSeconds = (at: number): number => Math.floor(at / secondMs);
