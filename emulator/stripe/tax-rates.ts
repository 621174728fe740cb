import type Stripe from 'stripe';
import { generateId, saveObject } from './account-objects.ts';
import type { AccountState } from './account-state.ts';
import { toSeconds } from './catalogue.ts';

/**
 * Finds or creates an exclusive tax rate.
 *
 * @see https://docs.stripe.com/api/tax_rates/object
 */
export function getOrCreateTaxRate(
  { records, now }: AccountState,
  { percentage, livemode, country }: { percentage: number; livemode: boolean; country: string },
): Stripe.TaxRate {
  const existing = [...records.objects.tax_rates.values()].find(
    (rate) => rate.percentage === percentage && rate.livemode === livemode && rate.country === country,
  );
  if (existing) return existing;
  return saveObject(records, 'tax_rates', {
    id: generateId('txr'),
    object: 'tax_rate',
    active: true,
    country,
    created: toSeconds(now()),
    description: null,
    display_name: 'Tax',
    effective_percentage: percentage,
    flat_amount: null,
    inclusive: false,
    jurisdiction: country,
    jurisdiction_level: 'country',
    livemode,
    metadata: {},
    percentage,
    rate_type: 'percentage',
    state: null,
    tax_type: country === 'US' ? 'sales_tax' : 'vat',
  });
}
