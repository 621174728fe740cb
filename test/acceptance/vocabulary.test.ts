import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getPurchase } from '../../lib/api/purchases.ts';
import type { Platform } from '../../lib/shared/platform.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  await service.close();
});

/** A client's way to say whose transaction it is, and the form of the emulator's body that is otherwise like it. */
interface Spoken {
  readonly type: string;
  readonly form: string;
}

interface Pair {
  readonly platform: Platform;
  readonly neutral: Spoken;
  readonly brand: Spoken;
  /** The platform of the collection that a client hears who speaks brand; the other hears the token. */
  readonly word: string;
}

const processorA: Omit<Pair, 'platform'> = {
  neutral: { type: 'processor_a-charge', form: 'charge' },
  brand: { type: 'stripe-charge', form: 'brand' },
  word: 'stripe',
};
const libraries: typeof processorA = {
  neutral: { type: 'client-library', form: 'purchase' },
  brand: { type: 'iaptic', form: 'purchase' },
  word: 'stripe',
};

const pairs: readonly Pair[] = [
  {
    platform: 'store_a',
    neutral: { type: 'ios-store', form: 'receipt' },
    brand: { type: 'ios-appstore', form: 'receipt' },
    word: 'ios-appstore',
  },
  {
    platform: 'store_a',
    neutral: { type: 'store_a-signed', form: 'signed' },
    brand: { type: 'apple-sk2', form: 'signed' },
    word: 'ios-appstore',
  },
  {
    platform: 'store_b',
    neutral: { type: 'android-store', form: 'store' },
    brand: { type: 'android-playstore', form: 'brand' },
    word: 'android-playstore',
  },
  {
    platform: 'store_c',
    neutral: { type: 'store_c-transaction', form: 'keys' },
    brand: { type: 'windows-store-transaction', form: 'brand' },
    word: 'windows-store-transaction',
  },
  { platform: 'processor_a', ...processorA },
  { platform: 'processor_a', ...libraries },
  { platform: 'service_processor_a', ...processorA },
  { platform: 'service_processor_a', ...libraries },
  {
    platform: 'processor_b',
    neutral: { type: 'processor_b', form: 'neutral' },
    brand: { type: 'braintree', form: 'brand' },
    word: 'braintree',
  },
];

const products: Readonly<Partial<Record<Platform, string>>> = { store_c: '9NBLGGH5W456' };

const buy = async (platform: Platform, applicationUsername: string): Promise<string> => {
  const productId = products[platform] ?? 'vocabulary';
  const order = { platform, productId, type: 'paid subscription', applicationUsername };
  return (await service.callControl('/purchases', order)).id;
};

/** An application of its own validates the purchase; gives the answer and what is stored. */
async function validatedBy(platform: Platform, id: string, { type, form }: Spoken) {
  const keys = await service.createApp([platform]);
  const { validate } = await service.callControl(`/purchases/${id}?form=${form}`);
  const { body } = await service.validate(keys, { ...validate, transaction: { ...validate.transaction, type } });
  if (!body.ok) throw new Error(`${type}: ${body.message}`);
  const purchaseId = `${platform}:${body.data.collection[0].purchaseId}`;
  const { body: stored } = await callEndpoint(getPurchase, {
    headers: buildBasicAuth(keys.appName, keys.secretKey),
    params: { purchaseId },
  });
  return { answer: body.data, stored };
}

it.each(pairs)('of $platform, $neutral.type and $brand.type are two words for one purchase', async (pair) => {
  const { platform, neutral, brand, word } = pair;
  const user = createUniqueName('user');
  const id = await buy(platform, user);
  const spoken = await validatedBy(platform, id, neutral);
  // What is paid for with a nonce is bought by its validation, so that the other caller buys the like of it.
  const isNonce = platform === 'processor_b';
  const branded = await validatedBy(platform, isNonce ? await buy(platform, user) : id, brand);
  const compared = isNonce ? unnamed : (purchase: object) => purchase;
  expect(compared(branded.stored)).toEqual(compared(spoken.stored));
  expect(spoken.stored).toMatchObject({ platform, entitledUsers: [user], renewalIntent: 'Renew' });
  expect(spoken.answer).toMatchObject({ transaction: { type: neutral.type }, collection: [{ platform }] });
  expect(branded.answer).toMatchObject({ transaction: { type: brand.type }, collection: [{ platform: word }] });
});

/** A purchase without what is its own alone: ids and dates. */
const unnamed = (purchase: object): object =>
  Object.fromEntries(Object.entries(purchase).filter(([field]) => !/(?:Date|purchaseId|transactionId)$/.test(field)));
