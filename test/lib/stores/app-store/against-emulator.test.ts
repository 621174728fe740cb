import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient, startTime } from '../../../../emulator/test/emulator-client.ts';
import { isActive, type Purchase } from '../../../../lib/purchases/purchase.ts';
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
const withBundleId = () => createStoreContext('bundleId');

/** Returns the request body of a client. */
const buildBody = async (id: string, form: string): Promise<ValidationRequest> =>
  (await user.control('GET', `/control/purchases/${id}?form=${form}`)).body.validate;

const buy = async (order: object = {}): Promise<string> =>
  (await user.buy({ applicationUsername: `${Math.random()}`, ...order })).body.id;

const findPurchase = ({ observations, purchaseId }: StoreValidation): Purchase | undefined =>
  observations.find(({ purchase }) => purchase.purchaseId === purchaseId)?.purchase;

/** All lookup methods must return the same state. */
const lookups = [
  ['a signed transaction and the API', 'signed', withApi],
  ['a receipt and the API', 'receipt', withApi],
  ['a receipt and verifyReceipt', 'receipt', withSecret],
] as const;

describe.each(lookups)('validate (App Store) of an emulated purchase by %s', (_title, form, createLookupContext) => {
  const validate = async (id: string) => await appStore.validate(await buildBody(id, form), createLookupContext());
  const validatePurchase = async (id: string) => findPurchase(await validate(id));

  it('returns the cancelation and the end of a subscription', async () => {
    const id = await buy();
    expect(await validatePurchase(id)).toMatchObject({
      productId: 'store_a:monthly',
      renewalIntent: 'Renew',
      sandbox: false,
    });
    await user.act(id, 'cancel');
    expect(await validatePurchase(id)).toMatchObject({
      renewalIntent: 'Lapse',
      expirationDate: Date.parse('2027-02-28T10:00:00Z'),
    });
    await user.advance('P1M');
    const ended = await validatePurchase(id);
    expect(ended).toMatchObject({ cancelationReason: 'Customer' });
    expect(ended && isActive(ended, user.clock.now())).toBe(false);
  });

  it('returns a renewal as the second transaction of the purchase', async () => {
    const id = await buy();
    await user.advance('P27D');
    await user.act(id, 'renew');
    const { observations } = await validate(id);
    expect(observations).toHaveLength(1);
    expect(observations[0]?.transactions).toHaveLength(2);
    const renewalDate = Date.parse('2027-02-28T10:00:00Z');
    expect(observations[0]?.transactions.map(({ purchaseDate }) => purchaseDate)).toContain(renewalDate);
    expect(observations[0]?.purchase).toMatchObject({
      purchaseId: `store_a:${id}`,
      expirationDate: Date.parse('2027-03-31T10:00:00Z'),
    });
  });

  it('returns access in the grace period and no access in the billing retry period', async () => {
    const id = await buy();
    await user.advance('P28D');
    await user.act(id, 'fail-payment');
    const grace = await validatePurchase(id);
    expect(grace).toMatchObject({ isBillingRetryPeriod: true });
    expect(grace && isActive(grace, user.clock.now())).toBe(true);
    await user.act(id, 'fail-payment');
    const billingRetry = await validatePurchase(id);
    expect(billingRetry).toMatchObject({ isBillingRetryPeriod: true, cancelationReason: 'System.BillingError' });
    expect(billingRetry && isActive(billingRetry, user.clock.now())).toBe(false);
    await user.act(id, 'recover');
    const recovered = await validatePurchase(id);
    expect(recovered && isActive(recovered, user.clock.now())).toBe(true);
    expect(recovered).not.toHaveProperty('cancelationReason');
  });

  it('returns the refund of a purchase', async () => {
    const id = await buy();
    await user.advance('P1D');
    await user.act(id, 'refund');
    const refunded = await validatePurchase(id);
    expect(refunded).toMatchObject({
      endedAt: user.clock.now(),
      cancelationReason: expect.stringContaining('Customer'),
    });
  });

  it('returns the new product after an upgrade', async () => {
    const id = await buy();
    await user.buy({ productId: 'premium', type: 'paid subscription', priceMicros: 19_990_000 });
    await user.advance('P3D');
    await user.act(id, 'change-plan', { productId: 'premium' });
    expect(await validatePurchase(id)).toMatchObject({ purchaseId: `store_a:${id}`, productId: 'store_a:premium' });
  });

  it('returns the price consent status', async () => {
    const id = await buy();
    await user.act(id, 'raise-price');
    expect(await validatePurchase(id)).toMatchObject({ priceConsentStatus: 'Notified' });
    await user.act(id, 'accept-price');
    expect(await validatePurchase(id)).toMatchObject({ priceConsentStatus: 'Agreed' });
  });

  it('returns a free trial and the used introductory price', async () => {
    const id = await buy({ trial: true });
    const validation = await validate(id);
    expect(findPurchase(validation)).toMatchObject({ isTrialPeriod: true, amountMicros: 0 });
    expect(validation.ineligibleForIntroPrice).toEqual(['monthly']);
  });

  it('returns a sandbox purchase', async () => {
    expect(await validatePurchase(await buy({ sandbox: true }))).toMatchObject({ sandbox: true });
  });

  it('returns all purchases of the account', async () => {
    const applicationUsername = `${Math.random()}`;
    const id = await buy({ applicationUsername });
    await buy({ applicationUsername, productId: 'coins', type: 'consumable', quantity: 3 });
    await buy({ applicationUsername, productId: 'hat', type: 'non consumable' });
    const { observations, nativeTransaction } = await validate(id);
    expect(observations.map(({ purchase }) => purchase.productId).sort()).toEqual([
      'store_a:coins',
      'store_a:hat',
      'store_a:monthly',
    ]);
    expect(nativeTransaction).toMatchObject({ original_application_version: '1.2', transactionId: id });
  });

  it('returns a shared purchase of a family member', async () => {
    const id = await buy();
    const shared = (await user.act(id, 'share', { applicationUsername: `${Math.random()}` })).body.id;
    expect(await validatePurchase(shared)).toMatchObject({ isSharedPurchase: true, purchaseId: `store_a:${shared}` });
  });
});

describe('appStore with the emulator', () => {
  it.each(['signed', 'receipt'])('verifies the form %s by its signature alone', async (form) => {
    const { warning, observations } = await appStore.validate(await buildBody(await buy(), form), withBundleId());
    expect(warning).toContain('signed receipt alone');
    expect(observations).toHaveLength(1);
  });

  it('returns the versions of a signed app download', async () => {
    const { appDownload } = await appStore.validate(await buildBody(await buy(), 'download'), withApi());
    expect(appDownload).toEqual({ currentVersion: '2.4', originalVersion: '1.2' });
  });

  it('refreshes a purchase with the refresh token of an observation', async () => {
    const id = await buy();
    const { observations } = await appStore.validate(await buildBody(id, 'signed'), withApi());
    await user.act(id, 'cancel');
    const [refreshed] = (await appStore.refresh?.(observations[0]?.refreshToken ?? {}, withApi())) ?? [];
    expect(refreshed?.purchase).toMatchObject({ purchaseId: `store_a:${id}`, renewalIntent: 'Lapse' });
  });

  it.each(['down', 'rate-limited', 'html', 'cut'])(
    'relies on the signature during the fault %s, or throws ConnectionFailed',
    async (fault) => {
      const id = await buy();
      const body = await buildBody(id, 'signed');
      await user.addFault({ fault, times: 3 });
      expect((await appStore.validate(body, withApi())).warning).toContain('The App Store is unavailable');
      await user.advance('P2M');
      await user.addFault({ fault, times: 3 });
      await expect(appStore.validate(body, withApi())).rejects.toMatchObject({ code: 'ConnectionFailed' });
      await user.control('DELETE', '/control/faults');
      expect(findPurchase(await appStore.validate(body, withApi()))).toMatchObject({
        cancelationReason: expect.any(String),
      });
    },
  );

  it('accepts valid settings and rejects a wrong key id', async () => {
    expect(await appStore.checkSettings(withApi(), { callStore: true })).toBe('The App Store accepted the API key.');
    const context = { ...withApi(), settings: { ...user.settings('store_a'), keyId: 'OTHER' } };
    await expect(appStore.checkSettings(context, { callStore: true })).rejects.toMatchObject({ code: 'InternalError' });
    await expect(appStore.validate(await buildBody(await buy(), 'signed'), context)).rejects.toMatchObject({
      code: 'InternalError',
    });
  });
});
