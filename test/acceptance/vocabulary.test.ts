import { expect, it } from '@jest/globals';
import type { Platform } from '../../lib/foundation/platform.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);

/** Transaction of a validation request in one vocabulary. */
interface TransactionFormat {
  readonly type: string;
  /** Format of the emulator's request body that has the other fields. */
  readonly form: string;
}

interface FormatPair {
  readonly platform: Platform;
  readonly neutral: TransactionFormat;
  readonly brand: TransactionFormat;
  /** Platform in the response to a request with a brand type; the neutral response has `platform`. */
  readonly brandPlatform: string;
}

const stripe: Omit<FormatPair, 'platform'> = {
  neutral: { type: 'processor_a-charge', form: 'charge' },
  brand: { type: 'stripe-charge', form: 'brand' },
  brandPlatform: 'stripe',
};
const libraries: typeof stripe = {
  neutral: { type: 'client-library', form: 'purchase' },
  brand: { type: 'iaptic', form: 'purchase' },
  brandPlatform: 'stripe',
};

const pairs: readonly FormatPair[] = [
  {
    platform: 'store_a',
    neutral: { type: 'ios-store', form: 'receipt' },
    brand: { type: 'ios-appstore', form: 'receipt' },
    brandPlatform: 'ios-appstore',
  },
  {
    platform: 'store_a',
    neutral: { type: 'store_a-signed', form: 'signed' },
    brand: { type: 'apple-sk2', form: 'signed' },
    brandPlatform: 'ios-appstore',
  },
  {
    platform: 'store_b',
    neutral: { type: 'android-store', form: 'store' },
    brand: { type: 'android-playstore', form: 'brand' },
    brandPlatform: 'android-playstore',
  },
  {
    platform: 'store_c',
    neutral: { type: 'store_c-transaction', form: 'keys' },
    brand: { type: 'windows-store-transaction', form: 'brand' },
    brandPlatform: 'windows-store-transaction',
  },
  { platform: 'processor_a', ...stripe },
  { platform: 'processor_a', ...libraries },
  { platform: 'service_processor_a', ...stripe },
  { platform: 'service_processor_a', ...libraries },
  {
    platform: 'processor_b',
    neutral: { type: 'processor_b', form: 'neutral' },
    brand: { type: 'braintree', form: 'brand' },
    brandPlatform: 'braintree',
  },
];

const products: Readonly<Partial<Record<Platform, string>>> = { store_c: '9NBLGGH5W456' };

const buy = async (platform: Platform, applicationUsername: string): Promise<string> => {
  const productId = products[platform] ?? 'vocabulary';
  const order = { platform, productId, type: 'paid subscription', applicationUsername };
  return (await service.callControl('/purchases', order)).id;
};

/** Validates the purchase for a new app. Returns the response data and the stored purchase. */
async function validate(platform: Platform, id: string, { type, form }: TransactionFormat) {
  const keys = await service.createApp([platform]);
  const { validate } = await service.callControl(`/purchases/${id}?form=${form}`);
  const { body } = await service.validate(keys, { ...validate, transaction: { ...validate.transaction, type } });
  if (!body.ok) throw new Error(`${type}: ${body.message}`);
  const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
  const { body: stored } = await callEndpoint(getPurchase, {
    headers: buildBasicAuth(keys.appName, keys.secretKey),
    params: { purchaseId },
  });
  return { data: body.data, stored };
}

it.each(pairs)('stores the same purchase of $platform for $neutral.type and $brand.type', async (pair) => {
  const { platform, neutral, brand, brandPlatform } = pair;
  const user = createUniqueName('user');
  const id = await buy(platform, user);
  const neutralResult = await validate(platform, id, neutral);
  // The validation of a payment nonce makes the purchase, so the brand request needs a second nonce.
  const usesNonce = platform === 'processor_b';
  const brandResult = await validate(platform, usesNonce ? await buy(platform, user) : id, brand);
  const toComparable = usesNonce ? omitIdsAndDates : (purchase: object) => purchase;
  expect(toComparable(brandResult.stored)).toEqual(toComparable(neutralResult.stored));
  expect(neutralResult.stored).toMatchObject({ platform, entitledUsers: [user], renewalIntent: 'Renew' });
  expect(neutralResult.data).toMatchObject({ transaction: { type: neutral.type }, collection: [{ platform }] });
  expect(brandResult.data).toMatchObject({
    transaction: { type: brand.type },
    collection: [{ platform: brandPlatform }],
  });
});

/** Omits the fields in which two purchases of the same product differ. */
const omitIdsAndDates = (purchase: object): object =>
  Object.fromEntries(Object.entries(purchase).filter(([field]) => !/(?:Date|purchaseId|transactionId)$/.test(field)));
