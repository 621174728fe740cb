import * as v from 'valibot';
import { ProductType } from '../../api/schemas.ts';
import { namedRecord } from '../../foundation/named-record.ts';
import { platformTokens } from '../../foundation/platform.ts';
import { createSettingsParsers } from '../settings.ts';
import type { SettingsForm } from '../settings-form.ts';
import { isTimeZone, westernmostTimeZone } from './gateway-day.ts';

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(255));

/** Decimal amount in units of the currency. */
const Amount = v.pipe(v.string(), v.regex(/^(?!0+(?:\.0+)?$)\d{1,9}(?:\.\d{1,3})?$/, 'an amount such as 4.99'));

const CatalogueProduct = v.pipe(
  v.strictObject({
    type: ProductType,
    /** `any`: the buyer chooses an amount from `minimum` to `maximum`, for example of a donation. */
    amount: v.union([v.literal('any'), Amount], 'an amount such as 4.99, or any'),
    minimum: v.exactOptional(Amount),
    maximum: v.exactOptional(Amount),
    currency: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as USD')),
    /** Determines the currency of the payment. The default is the merchant's default account. */
    merchantAccountId: v.exactOptional(Name),
    planId: v.exactOptional(Name),
  }),
  v.check(
    ({ type, planId }) => type !== 'paid subscription' || planId !== undefined,
    'a planId for a paid subscription',
  ),
  v.check(({ type, amount }) => type !== 'paid subscription' || amount !== 'any', 'an amount for a paid subscription'),
  v.check(
    ({ amount, minimum, maximum }) =>
      amount === 'any' ? Number(minimum) <= Number(maximum) : minimum === undefined && maximum === undefined,
    'minimum and maximum for the amount any only',
  ),
);
export type CatalogueProduct = v.InferOutput<typeof CatalogueProduct>;

/** Settings of Braintree: the merchant, and the catalogue of all products with their prices. */
export const BraintreeSettings = v.strictObject({
  merchantId: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/, 'a merchant id')),
  publicKey: Name,
  privateKey: Name,
  environment: v.picklist(['production', 'sandbox']),
  /** IANA time zone of the gateway. Dates are days in this zone. The default is the zone in which a day ends last. */
  timeZone: v.optional(
    v.pipe(v.string(), v.check(isTimeZone, 'an IANA time zone such as America/Chicago')),
    westernmostTimeZone,
  ),
  /** Days of access after a failed renewal payment. */
  graceDays: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(60)), 7),
  catalogue: namedRecord(Name, CatalogueProduct),
});
export type BraintreeSettings = v.InferOutput<typeof BraintreeSettings>;

export const settingsForm: SettingsForm = {
  entries: BraintreeSettings.entries,
  shown: ['merchantId', 'publicKey', 'environment', 'timeZone', 'graceDays', 'catalogue'],
};

export const { parseStoredSettings, parseEnteredSettings } = createSettingsParsers(
  platformTokens.braintree,
  BraintreeSettings,
);
