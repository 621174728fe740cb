import type { Platform } from './platform.ts';

/** The words in which an answer is written: the specification's tokens, or the brand tokens of clients that exist today. */
export type Vocabulary = 'neutral' | 'brand';

/** The one table of brand words; nothing else in the code knows one. */
const brandTokens: Readonly<Record<Platform, { readonly prefix: string; readonly validator: string }>> = {
  store_a: { prefix: 'apple', validator: 'ios-appstore' },
  store_b: { prefix: 'google', validator: 'android-playstore' },
  store_c: { prefix: 'windows', validator: 'windows-store-transaction' },
  processor_a: { prefix: 'stripe', validator: 'stripe' },
  service_processor_a: { prefix: 'iaptic', validator: 'stripe' },
  processor_b: { prefix: 'braintree', validator: 'braintree' },
};

/** `transaction.type` of a validation: whose transaction it is, and whether the caller speaks brand. */
const transactionTypes: Readonly<Record<string, { readonly platform: Platform; readonly vocabulary: Vocabulary }>> = {
  'ios-store': { platform: 'store_a', vocabulary: 'neutral' },
  // Spec: not shown. The specification gives the signed representation no type of its own.
  'store_a-signed': { platform: 'store_a', vocabulary: 'neutral' },
  'android-store': { platform: 'store_b', vocabulary: 'neutral' },
  'store_c-transaction': { platform: 'store_c', vocabulary: 'neutral' },
  'processor_a-charge': { platform: 'processor_a', vocabulary: 'neutral' },
  processor_b: { platform: 'processor_b', vocabulary: 'neutral' },
  // Spec: not shown. The client-library variant has no type token either.
  'client-library': { platform: 'processor_a', vocabulary: 'neutral' },
  'ios-appstore': { platform: 'store_a', vocabulary: 'brand' },
  'apple-sk2': { platform: 'store_a', vocabulary: 'brand' },
  'android-playstore': { platform: 'store_b', vocabulary: 'brand' },
  'windows-store-transaction': { platform: 'store_c', vocabulary: 'brand' },
  'stripe-charge': { platform: 'processor_a', vocabulary: 'brand' },
  braintree: { platform: 'processor_b', vocabulary: 'brand' },
  iaptic: { platform: 'processor_a', vocabulary: 'brand' },
};

/** The platform and the tongue of a transaction; a signed representation is store_a's whatever its type says. */
export function resolveTransactionType(transaction: {
  readonly type?: string;
  readonly jwsRepresentation?: unknown;
}): { readonly platform: Platform; readonly vocabulary: Vocabulary } | undefined {
  const { type = '' } = transaction;
  if (Object.hasOwn(transactionTypes, type)) return transactionTypes[type];
  return typeof transaction.jwsRepresentation === 'string' ? { platform: 'store_a', vocabulary: 'neutral' } : undefined;
}

const platformByBrandToken = new Map(Object.entries(brandTokens).map(([platform, { prefix }]) => [prefix, platform]));

/** An id in neutral words: `apple:123` and `store_a:123` are both `store_a:123`. */
export function toNeutralId(id: string): string {
  const colon = id.indexOf(':');
  const platform = platformByBrandToken.get(id.slice(0, colon));
  return colon > 0 && platform ? `${platform}${id.slice(colon)}` : id;
}

const idFields = new Set([
  'purchaseId',
  'transactionId',
  'productId',
  'offerId',
  'lastPurchaseId',
  'productIds',
  'purchaseIds',
]);

/**
 * An answer of v3 in the caller's tongue: platforms, prefixed ids and the keys of `purchases` change, nothing else.
 * Answers of the service are written in neutral words, so a neutral caller gets them as they are.
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
      // The `id` of an offer carries its platform, unlike that of a product.
      toBrand(inner, field === 'offers' && key === 'id' ? 'offerId' : key),
    ]),
  );
}

function toBrandText(text: string, field: string): string {
  if (field === 'platform') return toBrandPlatform(text);
  if (idFields.has(field)) return toBrandId(text);
  return field === 'type' || field === 'eventType' ? toBrandEventType(text) : text;
}

/** `webhook.store_a.called`: the only types of events that name a platform. */
const toBrandEventType = (type: string): string =>
  type.replace(/^webhook\.(\w+)\.called$/, (_all, platform: string) => `webhook.${toBrandPlatform(platform)}.called`);

/** Of an event's tags, purchases, transactions and products carry their platform; users may be called anything. */
const isPrefixedIdTag = (type: unknown): boolean => type === '_P' || type === '_T' || type === '_I';

const isPlatform = (token: string): token is Platform => Object.hasOwn(brandTokens, token);
const toBrandPlatform = (token: string): string => (isPlatform(token) ? brandTokens[token].prefix : token);

function toBrandId(id: string): string {
  const platform = id.slice(0, id.indexOf(':'));
  return isPlatform(platform) ? `${brandTokens[platform].prefix}${id.slice(platform.length)}` : id;
}

/** The `platform` of a validation's collection, whose brand words differ from those of v3. */
export const toValidatorPlatform = (platform: Platform, vocabulary: Vocabulary): string =>
  vocabulary === 'brand' ? brandTokens[platform].validator : platform;

/** Whether the path is one of the brand paths, whose callers are answered in brand words. */
export const isBrandPath = (template: string): boolean =>
  [...platformByBrandToken.keys()].some((word) => template.split('/').includes(word));
