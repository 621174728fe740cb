import { type Platform, platformTokens } from './platform.ts';

export const vocabularies = ['neutral', 'brand'] as const;

/** Tokens of ids and platforms: `neutral` as in the specification, `brand` as released clients expect. */
export type Vocabulary = (typeof vocabularies)[number];

/** Brand tokens by platform. `prefix` is used in ids and v3 records, `validator` in validation responses. */
const brandTokens: Readonly<Record<Platform, { readonly prefix: string; readonly validator: string }>> = {
  [platformTokens.appStore]: { prefix: 'apple', validator: 'ios-appstore' },
  [platformTokens.googlePlay]: { prefix: 'google', validator: 'android-playstore' },
  [platformTokens.microsoftStore]: { prefix: 'windows', validator: 'windows-store-transaction' },
  [platformTokens.stripe]: { prefix: 'stripe', validator: 'stripe' },
  [platformTokens.serviceStripe]: { prefix: 'iaptic', validator: 'stripe' },
  [platformTokens.braintree]: { prefix: 'braintree', validator: 'braintree' },
};

/** Platform and vocabulary by `transaction.type` of a validation. */
const transactionTypes: Readonly<Record<string, { readonly platform: Platform; readonly vocabulary: Vocabulary }>> = {
  'ios-store': { platform: platformTokens.appStore, vocabulary: 'neutral' },
  // Spec: not shown. The signed representation lacks a type in the specification.
  'store_a-signed': { platform: platformTokens.appStore, vocabulary: 'neutral' },
  'android-store': { platform: platformTokens.googlePlay, vocabulary: 'neutral' },
  'store_c-transaction': { platform: platformTokens.microsoftStore, vocabulary: 'neutral' },
  'processor_a-charge': { platform: platformTokens.stripe, vocabulary: 'neutral' },
  processor_b: { platform: platformTokens.braintree, vocabulary: 'neutral' },
  // Spec: not shown. The client-library variant lacks a type, too.
  'client-library': { platform: platformTokens.stripe, vocabulary: 'neutral' },
  'ios-appstore': { platform: platformTokens.appStore, vocabulary: 'brand' },
  'apple-sk2': { platform: platformTokens.appStore, vocabulary: 'brand' },
  'android-playstore': { platform: platformTokens.googlePlay, vocabulary: 'brand' },
  'windows-store-transaction': { platform: platformTokens.microsoftStore, vocabulary: 'brand' },
  'stripe-charge': { platform: platformTokens.stripe, vocabulary: 'brand' },
  braintree: { platform: platformTokens.braintree, vocabulary: 'brand' },
  iaptic: { platform: platformTokens.stripe, vocabulary: 'brand' },
};

/**
 * Returns platform and vocabulary of a transaction. `jwsRepresentation` identifies the App Store if the type is
 * unknown.
 */
export function resolveTransactionType(transaction: {
  readonly type?: string;
  readonly jwsRepresentation?: unknown;
}): { readonly platform: Platform; readonly vocabulary: Vocabulary } | undefined {
  const { type = '' } = transaction;
  if (Object.hasOwn(transactionTypes, type)) return transactionTypes[type];
  return typeof transaction.jwsRepresentation === 'string'
    ? { platform: platformTokens.appStore, vocabulary: 'neutral' }
    : undefined;
}

const platformByToken = new Map<string, Platform>(
  (Object.entries(brandTokens) as [Platform, { prefix: string; validator: string }][])
    // The last entry takes precedence: both platforms of Stripe have the validator token `stripe`.
    .reverse()
    .flatMap(([platform, { prefix, validator }]) => [validator, prefix, platform].map((token) => [token, platform])),
);

/** Returns the platform of a neutral or brand token, in any case. Undefined for an unknown token. */
export const parsePlatform = (token: string): Platform | undefined => platformByToken.get(token.trim().toLowerCase());

const platformByBrandToken = new Map(Object.entries(brandTokens).map(([platform, { prefix }]) => [prefix, platform]));

/** Converts an id to the neutral vocabulary: `apple:123` and `store_a:123` both become `store_a:123`. */
export function toNeutralId(id: string): string {
  const colon = id.indexOf(':');
  const platform = platformByBrandToken.get(id.slice(0, colon));
  return colon > 0 && platform ? `${platform}${id.slice(colon)}` : id;
}

const idFields = new Set([
  'purchaseId',
  'transactionId',
  'product',
  'productId',
  'offerId',
  'lastPurchaseId',
  'productIds',
  'purchaseIds',
  'unreadableIds',
]);

/**
 * Converts a neutral v3 response to the vocabulary. Changes platforms, prefixed ids, the keys of `purchases`, event
 * types and the tags that are prefixed ids.
 */
export function applyVocabulary<T>(result: T, vocabulary: Vocabulary): T {
  return vocabulary === 'neutral' ? result : (toBrand(result) as T);
}

function toBrand(value: unknown, field?: string): unknown {
  if (typeof value === 'string') return toBrandText(value, field ?? '');
  if (Array.isArray(value)) return value.map((element) => toBrand(element, field));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      field === 'purchases' || (field === 'tags' && isPrefixedIdTag(inner)) ? toBrandId(key) : key,
      // The `id` of an offer has a platform prefix, the `id` of a product does not.
      toBrand(inner, field === 'offers' && key === 'id' ? 'offerId' : key),
    ]),
  );
}

function toBrandText(text: string, field: string): string {
  if (field === 'platform') return toBrandPlatform(text);
  if (idFields.has(field)) return toBrandId(text);
  return field === 'type' || field === 'eventType' ? toBrandEventType(text) : text;
}

/** Converts `webhook.store_a.called`; other event types do not contain a platform. */
const toBrandEventType = (type: string): string =>
  type.replace(/(?<=^webhook\.)\w+(?=\.)/, (platform) => toBrandPlatform(platform));

/**
 * Tags of purchases, transactions and products have a platform prefix. A username with the same prefix is not
 * converted.
 */
const isPrefixedIdTag = (type: unknown): boolean => type === '_P' || type === '_T' || type === '_I';

const isPlatform = (token: string): token is Platform => Object.hasOwn(brandTokens, token);
const toBrandPlatform = (token: string): string => (isPlatform(token) ? brandTokens[token].prefix : token);

function toBrandId(id: string): string {
  const platform = id.slice(0, id.indexOf(':'));
  return isPlatform(platform) ? `${brandTokens[platform].prefix}${id.slice(platform.length)}` : id;
}

/** Returns the `platform` of a validation response, which has its own brand tokens. */
export const toValidatorPlatform = (platform: Platform, vocabulary: Vocabulary): string =>
  vocabulary === 'brand' ? brandTokens[platform].validator : platform;

/** Responses on paths with a brand token use the brand vocabulary. */
export const isBrandPath = (template: string): boolean =>
  [...platformByBrandToken.keys()].some((token) => template.split('/').includes(token));
