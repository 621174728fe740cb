import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient, startTime } from '../../../../emulator/test/emulator-client.ts';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { isActive } from '../../../../lib/purchases/purchase.ts';
import { appStore } from '../../../../lib/stores/app-store/app-store.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { createContext } from '../../../../testing/fake-apple.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';

let user: EmulatorClient;

beforeAll(async () => {
  user = await startEmulatorClient();
});
beforeEach(() => user.clock.set(startTime));
afterAll(() => user.close());

/** Creates a context with all or only some settings of the emulated store. */
const createStoreContext = (...names: readonly string[]): StoreContext => {
  const { now } = user.clock;
  const settings = Object.entries(user.settings('store_a')).filter(
    ([name]) => names.length === 0 || names.includes(name),
  );
  return createContext({
    now,
    settings: Object.fromEntries(settings),
    stopwatch: stoppedStopwatch,
    extraRoots: [user.rootCertificate],
    fetch: createRecordedFetch({
      storeName: 'The App Store',
      record: () => {},
      now,
      stopwatch: stoppedStopwatch,
      storesUrl: user.url,
    }),
  });
};

const withApi = () => createStoreContext('bundleId', 'appAppleId', 'issuerId', 'keyId', 'privateKey');
const withSecret = () => createStoreContext('bundleId', 'sharedSecret');
/** Returns the request body of a client. */
const buildBody = async (id: string, form: string): Promise<ValidationRequest> =>
  (await user.control('GET', `/control/purchases/${id}?form=${form}`)).body.validate;

const buy = async (order: object = {}): Promise<string> =>
  (await user.buy({ applicationUsername: `${Math.random()}`, ...order })).body.id;

/** All lookup methods must return the same state. */
const lookups = [
  ['signed', withApi],
  ['receipt', withApi],
  ['receipt', withSecret],
] as const;

/** Validates a purchase by each lookup. */
const validateByEach = async (id: string): Promise<StoreValidation[]> =>
  await Promise.all(
    lookups.map(async ([form, createLookupContext]) =>
      appStore.validate(await buildBody(id, form), createLookupContext()),
    ),
  );

function summarize({ observations, purchaseId, ineligibleForIntroPrice }: StoreValidation) {
  const observation = observations.find(({ purchase }) => purchase.purchaseId === purchaseId);
  if (!observation) throw new Error('The purchase is missing.');
  const { purchase, transactions } = observation;
  return {
    ...purchase,
    cancelationReason: purchase.cancelationReason,
    isInForce: isActive(purchase, user.clock.now()),
    payments: transactions.length,
    ineligibleForIntroPrice,
  };
}

/** A period by which the clock advances, or an action of the purchase. */
type Step = string | readonly [action: string, details?: object];

describe('validate (App Store) of an emulated purchase by the API with a transaction or a receipt, and by verifyReceipt', () => {
  it.each<[string, readonly Step[], object]>([
    [
      'a new subscription',
      [],
      { productId: 'store_a:monthly', renewalIntent: 'Renew', sandbox: false, isInForce: true, payments: 1 },
    ],
    [
      'a cancelation',
      [['cancel']],
      { renewalIntent: 'Lapse', expirationDate: Date.parse('2027-02-28T10:00:00Z'), isInForce: true },
    ],
    ['the end after a cancelation', [['cancel'], 'P1M'], { cancelationReason: 'Customer', isInForce: false }],
    ['a renewal', ['P27D', ['renew']], { expirationDate: Date.parse('2027-03-31T10:00:00Z'), payments: 2 }],
    ['a grace period', ['P28D', ['fail-payment']], { isBillingRetryPeriod: true, isInForce: true }],
    [
      'a billing retry period',
      ['P28D', ['fail-payment'], ['fail-payment']],
      { isBillingRetryPeriod: true, cancelationReason: 'System.BillingError', isInForce: false },
    ],
    [
      'a recovered payment',
      ['P28D', ['fail-payment'], ['fail-payment'], ['recover']],
      { cancelationReason: undefined, isInForce: true },
    ],
    [
      'a refund',
      ['P1D', ['refund']],
      { endedAt: startTime + dayMs, cancelationReason: expect.stringContaining('Customer') },
    ],
    ['an upgrade', ['P3D', ['change-plan', { productId: 'premium' }]], { productId: 'store_a:premium' }],
    ['an announced price', [['raise-price']], { priceConsentStatus: 'Notified' }],
    ['an accepted price', [['raise-price'], ['accept-price']], { priceConsentStatus: 'Agreed' }],
  ])('returns the same state after %s', async (_title, steps, state) => {
    const id = await buy();
    await user.buy({ productId: 'premium', type: 'paid subscription', priceMicros: 19_990_000 });
    for (const step of steps) await (typeof step === 'string' ? user.advance(step) : user.act(id, ...step));
    for (const validation of await validateByEach(id))
      expect(summarize(validation)).toMatchObject({ purchaseId: `store_a:${id}`, ...state });
  });

  it.each([
    ['a free trial', { trial: true }, { isTrialPeriod: true, amountMicros: 0, ineligibleForIntroPrice: ['monthly'] }],
    ['the sandbox', { sandbox: true }, { sandbox: true }],
  ])('returns the same purchase of %s', async (_title, order, state) => {
    for (const validation of await validateByEach(await buy(order))) expect(summarize(validation)).toMatchObject(state);
  });

  it('returns all purchases of the account', async () => {
    const applicationUsername = `${Math.random()}`;
    const id = await buy({ applicationUsername });
    await buy({ applicationUsername, productId: 'coins', type: 'consumable', quantity: 3 });
    await buy({ applicationUsername, productId: 'hat', type: 'non consumable' });
    for (const { observations, nativeTransaction } of await validateByEach(id)) {
      const products = observations.map(({ purchase }) => purchase.productId).sort();
      expect(products).toEqual(['store_a:coins', 'store_a:hat', 'store_a:monthly']);
      expect(nativeTransaction).toMatchObject({ original_application_version: '1.2', transactionId: id });
    }
  });

  it('returns a shared purchase of a family member', async () => {
    const shared = (await user.act(await buy(), 'share', { applicationUsername: `${Math.random()}` })).body.id;
    for (const validation of await validateByEach(shared))
      expect(summarize(validation)).toMatchObject({ isSharedPurchase: true, purchaseId: `store_a:${shared}` });
  });
});
