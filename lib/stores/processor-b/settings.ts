import * as v from 'valibot';
import { ProductType } from '../../api/enumerations.ts';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';

const Name = v.pipe(v.string(), v.minLength(1), v.maxLength(255));

const CatalogueProduct = v.pipe(
  v.strictObject({
    type: ProductType,
    /** In units of the currency, as the processor writes amounts. */
    amount: v.pipe(v.string(), v.regex(/^(?!0+(?:\.0+)?$)\d{1,9}(?:\.\d{1,3})?$/, 'an amount such as 4.99')),
    currency: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as USD')),
    /** Decides the currency of the payment, where it is not the merchant's default. */
    merchantAccountId: v.exactOptional(Name),
    planId: v.exactOptional(Name),
  }),
  v.check(
    ({ type, planId }) => type !== 'paid subscription' || planId !== undefined,
    'a planId for a paid subscription',
  ),
);
export type CatalogueProduct = v.InferOutput<typeof CatalogueProduct>;

/** What an operator sets for processor_b: the merchant, and all that it sells with its price. */
export const ProcessorBSettings = v.strictObject({
  merchantId: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/, 'a merchant id')),
  publicKey: Name,
  privateKey: Name,
  environment: v.picklist(['production', 'sandbox']),
  /** Days of access after a renewal that could not be paid. */
  graceDays: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(60)), 7),
  catalogue: v.record(Name, CatalogueProduct),
});
export type ProcessorBSettings = v.InferOutput<typeof ProcessorBSettings>;

/** The settings; throws `InternalError` where there are none, as callers cannot mend that. */
export function parseStoredSettings(settings: unknown): ProcessorBSettings {
  if (settings === undefined) {
    throw new ServiceError(
      'InternalError',
      'This application has no settings for the processor: a configuration error.',
    );
  }
  return parse(ProcessorBSettings, settings, 'InternalError');
}
