import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';
import { parsePlatform } from '../foundation/vocabulary.ts';
import { describeValue } from './describe.ts';

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
