import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';
import { parsePlatform } from '../foundation/vocabulary.ts';
import { describeFormat, describeValue } from './describe.ts';

/** `YYYY-MM-DDTHH:MM:SS.mmmZ`. */
export const DateTime = v.pipe(v.string(), v.isoTimestamp());

/** An optional query parameter. Clients send an empty string for a value that they do not have. */
export const emptyAsAbsent = <const S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => (text === '' ? undefined : text)),
      v.optional(schema),
    ),
  );

/** An optional query parameter that is `true` or `false`. */
export const QueryFlag = emptyAsAbsent(v.picklist(['true', 'false']));

/** An optional field of a body. Clients send null or an empty string for a value that they do not have. */
export const nullableOptional = <const S extends v.GenericSchema>(schema: S) =>
  v.optional(
    v.union([
      v.pipe(
        v.nullable(v.literal('')),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  );

/** An optional field that must not fail the request: an invalid value counts as absent. */
export const invalidAsAbsent = <const S extends v.GenericSchema>(schema: S) =>
  v.fallback(v.optional(schema), undefined);

/** An ISO 4217 code in any case, converted to upper case. */
export const CurrencyCode = v.pipe(v.string(), v.toUpperCase(), v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as EUR'));

export const OptionalBoolean = v.exactOptional(v.boolean());
/** A fact that is absent if it does not apply. */
export const OptionalTrue = v.exactOptional(v.literal(true));
export const OptionalText = v.exactOptional(v.string());
export const OptionalDateTime = v.exactOptional(DateTime);
export const OptionalNumber = v.exactOptional(v.number());

/**
 * 1 to 900 bytes of well-formed Unicode. The text is part of a sort key, which DynamoDB limits to 1,024 bytes.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
 */
const KeyText = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxBytes(900, 'at most 900 bytes'),
  v.regex(/^\P{Surrogate}*$/u, 'well-formed Unicode'),
);

/** A customer's `applicationUsername`. All characters are allowed. */
export const Username = KeyText;

/** Id of a purchase, transaction, event or event tag, in a path or body. */
export const Id = KeyText;

/** Name of what an app sells access to, for example `premium`. */
export const EntitlementName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
);

/** Name of a credit that an app sells or gives, for example `coins`. Names that JavaScript reserves are refused. */
export const CreditName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
  v.check((name) => !(name in Object.prototype), 'another name: this one is reserved'),
);

/** Number of units of a credit: whole, from 1. */
export const CreditAmount = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000));

/** The API key that made or changed something. */
export const GrantingKey = v.strictObject({ id: v.string(), name: v.string() });

export const RenewalIntent = v.picklist(['Lapse', 'Renew']);
export type RenewalIntent = v.InferOutput<typeof RenewalIntent>;

export const PriceConsentStatus = v.picklist(['Agreed', 'Notified']);
export type PriceConsentStatus = v.InferOutput<typeof PriceConsentStatus>;

/** Why a purchase ended or will not renew. */
export const CancelationReason = v.picklist([
  'Developer',
  'System',
  'System.Replaced',
  'System.ProductUnavailable',
  'System.BillingError',
  'System.Deleted',
  'Customer',
  'Customer.TechnicalIssues',
  'Customer.PriceIncrease',
  'Customer.Cost',
  'Customer.FoundBetterApp',
  'Customer.NotUsefulEnough',
  'Customer.OtherReason',
  'Unknown',
  // Spec: missing in the enumeration, but required by the rule on paused purchases.
  'PAUSED',
]);
export type CancelationReason = v.InferOutput<typeof CancelationReason>;

/** Type of a product, as clients register it. */
export const ProductType = v.picklist([
  'paid subscription',
  'non renewing subscription',
  'consumable',
  'non consumable',
]);
export type ProductType = v.InferOutput<typeof ProductType>;

/**
 * Kind of value of an event tag: `_A` user, `_R` request, `_X` error, `AT` access token, `_P` purchase, `_T`
 * transaction, `_I` product.
 */
export const TagType = v.picklist(['_A', '_R', '_X', 'AT', '_P', '_T', '_I']);
export type TagType = v.InferOutput<typeof TagType>;

const ContentRows = v.array(v.looseObject({}));

/** Lists of an event's content. All are always present, because clients loop over them without a check. */
export const contentLists = {
  products: ContentRows,
  purchases: ContentRows,
  transactions: ContentRows,
  claims: ContentRows,
  notifications: ContentRows,
  refreshFailures: ContentRows,
  exchangeRates: ContentRows,
};

/**
 * What support can do with a purchase at its store. `defer` and `extend` are the same action: stores use either name.
 */
export const actionNames = ['refund', 'cancel', 'revoke', 'defer', 'extend', 'finish', 'set-account'] as const;
export type ActionName = (typeof actionNames)[number];

/**
 * Webhooks that an app must switch on: requests of stores for statements about refunds, rescinded consents of parents,
 * external purchase tokens, and changes of credits.
 */
export const webhookEvents = ['refunds', 'consents', 'external-purchases', 'credits'] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** A platform in the vocabulary of the response: neutral or brand tokens. */
export const PlatformToken = v.union([
  Platform,
  v.picklist(['apple', 'google', 'windows', 'stripe', 'iaptic', 'braintree']),
]);

/** A platform of a request, in either vocabulary and in any case. */
export const PlatformParam = v.pipe(
  v.string(),
  v.transform((token) => parsePlatform(token) ?? token),
  Platform,
);

export const enumerationDescriptions = [
  describeValue(
    'NeutralPlatform',
    Platform,
    'Store in the neutral vocabulary: `store_a` Apple App Store, `store_b` Google Play, `store_c` Microsoft Store, `processor_a` Stripe, `service_processor_a` Stripe by the account of the deployment, `processor_b` Braintree.',
    'store_a',
  ),
  describeValue(
    'PlatformToken',
    PlatformToken,
    'Store in the vocabulary of the app: neutral tokens, or the brand tokens `apple`, `google`, `windows`, `stripe`, `iaptic` and `braintree`. Ids have the same prefix.',
    'store_a',
  ),
  describeValue(
    'ProductType',
    ProductType,
    'Type of a product. `paid subscription` renews automatically.',
    'paid subscription',
  ),
  describeValue(
    'RenewalIntent',
    RenewalIntent,
    'Whether the customer lets the subscription renew (`Renew`) or expire (`Lapse`).',
    'Renew',
  ),
  describeValue(
    'PriceConsentStatus',
    PriceConsentStatus,
    'Whether the customer agreed to a price increase (`Agreed`) or was only notified of it (`Notified`).',
    'Agreed',
  ),
  describeValue(
    'CancelationReason',
    CancelationReason,
    'Why a purchase ended or does not renew: by the developer, the store or payment system, or the customer. `PAUSED`: the subscription is paused.',
    'Customer',
  ),
  describeValue(
    'TagType',
    TagType,
    'Kind of an event tag: `_A` customer, `_R` request id, `_X` error, `AT` access token, `_P` purchase, `_T` transaction, `_I` product.',
    '_A',
  ),
];

export const formatDescriptions = [
  describeFormat(DateTime, '2026-01-15T09:30:00.000Z', { type: 'string', format: 'date-time' }),
  describeFormat(CurrencyCode, 'EUR', { type: 'string', pattern: '^[A-Za-z]{3}$' }),
];
