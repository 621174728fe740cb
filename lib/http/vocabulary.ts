import type { Platform } from '../purchases/platform.ts';

/** The words in which an answer is written: the specification's tokens, or the brand tokens of clients that exist today. */
export type Tongue = 'neutral' | 'brand';

/** The one table of brand words; nothing else in the code knows one. */
const words: Readonly<Record<Platform, { readonly id: string; readonly validator: string }>> = {
  store_a: { id: 'apple', validator: 'ios-appstore' },
  store_b: { id: 'google', validator: 'android-playstore' },
  store_c: { id: 'windows', validator: 'windows-store-transaction' },
  processor_a: { id: 'stripe', validator: 'stripe' },
  service_processor_a: { id: 'iaptic', validator: 'stripe' },
  processor_b: { id: 'braintree', validator: 'braintree' },
};

/** `transaction.type` of a validation: whose transaction it is, and whether the caller speaks brand. */
const transactionTypes: Readonly<Record<string, { readonly platform: Platform; readonly tongue: Tongue }>> = {
  'ios-store': { platform: 'store_a', tongue: 'neutral' },
  // Spec: not shown. The specification gives the signed representation no type of its own.
  'store_a-signed': { platform: 'store_a', tongue: 'neutral' },
  'android-store': { platform: 'store_b', tongue: 'neutral' },
  'store_c-transaction': { platform: 'store_c', tongue: 'neutral' },
  'processor_a-charge': { platform: 'processor_a', tongue: 'neutral' },
  processor_b: { platform: 'processor_b', tongue: 'neutral' },
  // Spec: not shown. The client-library variant has no type token either.
  'client-library': { platform: 'processor_a', tongue: 'neutral' },
  'ios-appstore': { platform: 'store_a', tongue: 'brand' },
  'apple-sk2': { platform: 'store_a', tongue: 'brand' },
  'android-playstore': { platform: 'store_b', tongue: 'brand' },
  'windows-store-transaction': { platform: 'store_c', tongue: 'brand' },
  'stripe-charge': { platform: 'processor_a', tongue: 'brand' },
  braintree: { platform: 'processor_b', tongue: 'brand' },
  iaptic: { platform: 'processor_a', tongue: 'brand' },
};

/** The platform and the tongue of a transaction; a signed representation is store_a's whatever its type says. */
export function spokenTransaction(transaction: {
  readonly type?: string;
  readonly jwsRepresentation?: unknown;
}): { readonly platform: Platform; readonly tongue: Tongue } | undefined {
  const { type = '' } = transaction;
  if (Object.hasOwn(transactionTypes, type)) return transactionTypes[type];
  return typeof transaction.jwsRepresentation === 'string' ? { platform: 'store_a', tongue: 'neutral' } : undefined;
}

const platformOfWord = new Map(Object.entries(words).map(([platform, { id }]) => [id, platform]));

/** An id in neutral words: `apple:123` and `store_a:123` are both `store_a:123`. */
export function neutralId(id: string): string {
  const colon = id.indexOf(':');
  const platform = platformOfWord.get(id.slice(0, colon));
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
export function inTongue<T>(answer: T, tongue: Tongue): T {
  return tongue === 'neutral' ? answer : (branded(answer) as T);
}

function branded(value: unknown, field?: string): unknown {
  if (typeof value === 'string') return brandText(value, field ?? '');
  if (Array.isArray(value)) return value.map((element) => branded(element, field));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      field === 'purchases' || (field === 'tags' && isIdTag(inner)) ? brandId(key) : key,
      // The `id` of an offer carries its platform, unlike that of a product.
      branded(inner, field === 'offers' && key === 'id' ? 'offerId' : key),
    ]),
  );
}

function brandText(text: string, field: string): string {
  if (field === 'platform') return brandPlatform(text);
  if (idFields.has(field)) return brandId(text);
  return field === 'type' || field === 'eventType' ? brandEventType(text) : text;
}

/** `webhook.store_a.called`: the only types of events that name a platform. */
const brandEventType = (type: string): string =>
  type.replace(/^webhook\.(\w+)\.called$/, (_all, platform: string) => `webhook.${brandPlatform(platform)}.called`);

/** Of an event's tags, purchases, transactions and products carry their platform; users may be called anything. */
const isIdTag = (type: unknown): boolean => type === '_P' || type === '_T' || type === '_I';

const isPlatform = (token: string): token is Platform => Object.hasOwn(words, token);
const brandPlatform = (token: string): string => (isPlatform(token) ? words[token].id : token);

function brandId(id: string): string {
  const platform = id.slice(0, id.indexOf(':'));
  return isPlatform(platform) ? `${words[platform].id}${id.slice(platform.length)}` : id;
}

/** The `platform` of a validation's collection, whose brand words differ from those of v3. */
export const validatorPlatform = (platform: Platform, tongue: Tongue): string =>
  tongue === 'brand' ? words[platform].validator : platform;

/** Whether the path is one of the brand paths, whose callers are answered in brand words. */
export const isBrandPath = (template: string): boolean =>
  [...platformOfWord.keys()].some((word) => template.split('/').includes(word));
