import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { isActive, type Purchase } from '../../../../lib/purchases/purchase.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import type { StoreValidation, ValidationRequest } from '../../../../lib/stores/store.ts';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import type { StoreContext } from '../../../../lib/stores/store-context.ts';
import { createContext } from '../../../../testing/fake-apple.ts';
import { type EmulatorClient, startEmulatorClient, startTime } from '../../../emulator/emulator-client.ts';

let user: EmulatorClient;

beforeAll(async () => {
  user = await startEmulatorClient();
});
beforeEach(() => user.clock.set(startTime));
afterAll(() => user.close());

/** What an application may ask with: all the settings of the emulated store, or only some. */
const use = (...names: readonly string[]): StoreContext => {
  const { now } = user.clock;
  const settings = Object.entries(user.settings('store_a')).filter(
    ([name]) => names.length === 0 || names.includes(name),
  );
  return createContext({
    now,
    settings: Object.fromEntries(settings),
    extraRoots: [user.rootCertificate],
    fetch: createRecordedFetch({ record: () => {}, now, storesUrl: user.url }),
  });
};

const withApi = () => use('bundleId', 'appAppleId', 'issuerId', 'keyId', 'privateKey');
const withSecret = () => use('bundleId', 'sharedSecret');
const alone = () => use('bundleId');

/** The body that a client would send now. */
const bodyOf = async (id: string, form: string): Promise<ValidationRequest> =>
  (await user.control('GET', `/control/purchases/${id}?form=${form}`)).body.validate;

const buy = async (order: object = {}): Promise<string> =>
  (await user.buy({ applicationUsername: `${Math.random()}`, ...order })).body.id;

const purchaseIn = ({ observations, purchaseId }: StoreValidation): Purchase | undefined =>
  observations.find(({ purchase }) => purchase.purchaseId === purchaseId)?.purchase;

const look = async (id: string, form: string, with_: StoreContext) =>
  purchaseIn(await storeA.validate(await bodyOf(id, form), with_));

/** What each way of asking sees: the same, as far as Apple tells it in that way. */
const ways = [
  ['a signed transaction and the API', 'signed', withApi],
  ['a receipt and the API', 'receipt', withApi],
  ['a receipt and verifyReceipt', 'receipt', withSecret],
] as const;

describe.each(ways)('by %s', (_title, form, asker) => {
  const see = async (id: string) => await look(id, form, asker());

  it('a subscription runs, lapses and ends', async () => {
    const id = await buy();
    expect(await see(id)).toMatchObject({ productId: 'store_a:monthly', renewalIntent: 'Renew', sandbox: false });
    await user.act(id, 'cancel');
    expect(await see(id)).toMatchObject({ renewalIntent: 'Lapse', expirationDate: Date.parse('2027-02-28T10:00:00Z') });
    await user.advance('P1M');
    const ended = await see(id);
    expect(ended).toMatchObject({ cancelationReason: 'Customer' });
    expect(ended && isActive(ended, user.clock.now())).toBe(false);
  });

  it('a renewal is a second transaction of one purchase', async () => {
    const id = await buy();
    await user.advance('P27D');
    await user.act(id, 'renew');
    const { observations } = await storeA.validate(await bodyOf(id, form), asker());
    expect(observations).toHaveLength(1);
    expect(observations[0]?.transactions).toHaveLength(2);
    expect(observations[0]?.purchase).toMatchObject({
      purchaseId: `store_a:${id}`,
      lastRenewalDate: Date.parse('2027-02-28T10:00:00Z'),
      expirationDate: Date.parse('2027-03-31T10:00:00Z'),
    });
  });

  it('a failed payment leaves access in the grace period and takes it after', async () => {
    const id = await buy();
    await user.advance('P28D');
    await user.act(id, 'fail-payment');
    const grace = await see(id);
    expect(grace).toMatchObject({ isBillingRetryPeriod: true });
    expect(grace && isActive(grace, user.clock.now())).toBe(true);
    await user.act(id, 'fail-payment');
    const retried = await see(id);
    expect(retried).toMatchObject({ isBillingRetryPeriod: true, cancelationReason: 'System.BillingError' });
    expect(retried && isActive(retried, user.clock.now())).toBe(false);
    await user.act(id, 'recover');
    const recovered = await see(id);
    expect(recovered && isActive(recovered, user.clock.now())).toBe(true);
    expect(recovered).not.toHaveProperty('cancelationReason');
  });

  it('a refund ends it', async () => {
    const id = await buy();
    await user.advance('P1D');
    await user.act(id, 'refund');
    const refunded = await see(id);
    expect(refunded).toMatchObject({
      endedAt: user.clock.now(),
      cancelationReason: expect.stringContaining('Customer'),
    });
  });

  it('an upgrade moves the purchase to the other product', async () => {
    const id = await buy();
    await user.buy({ productId: 'premium', type: 'paid subscription', priceMicros: 19_990_000 });
    await user.advance('P3D');
    await user.act(id, 'change-plan', { productId: 'premium' });
    expect(await see(id)).toMatchObject({ purchaseId: `store_a:${id}`, productId: 'store_a:premium' });
  });

  it('a price rise waits for consent', async () => {
    const id = await buy();
    await user.act(id, 'raise-price');
    expect(await see(id)).toMatchObject({ priceConsentStatus: 'Notified' });
    await user.act(id, 'accept-price');
    expect(await see(id)).toMatchObject({ priceConsentStatus: 'Agreed' });
  });

  it('a trial is one, and its price is used up', async () => {
    const id = await buy({ trial: true });
    const validation = await storeA.validate(await bodyOf(id, form), asker());
    expect(purchaseIn(validation)).toMatchObject({ isTrialPeriod: true, amountMicros: 0 });
    expect(validation.ineligibleForIntroPrice).toEqual(['monthly']);
  });

  it('a sandbox purchase is found in the sandbox', async () => {
    expect(await see(await buy({ sandbox: true }))).toMatchObject({ sandbox: true });
  });

  it('one account owns all that it bought', async () => {
    const applicationUsername = `${Math.random()}`;
    const id = await buy({ applicationUsername });
    await buy({ applicationUsername, productId: 'coins', type: 'consumable', quantity: 3 });
    await buy({ applicationUsername, productId: 'hat', type: 'non consumable' });
    const { observations, nativeTransaction } = await storeA.validate(await bodyOf(id, form), asker());
    expect(observations.map(({ purchase }) => purchase.productId).sort()).toEqual([
      'store_a:coins',
      'store_a:hat',
      'store_a:monthly',
    ]);
    expect(nativeTransaction).toMatchObject({ original_application_version: '1.2', transactionId: id });
  });

  it('a family share belongs to the member', async () => {
    const id = await buy();
    const shared = (await user.act(id, 'share', { applicationUsername: `${Math.random()}` })).body.id;
    expect(await see(shared)).toMatchObject({ isSharedPurchase: true, purchaseId: `store_a:${shared}` });
  });
});

describe('the emulated store', () => {
  it.each(['signed', 'receipt'])('need not be asked to verify the %s form', async (form) => {
    const { warning, observations } = await storeA.validate(await bodyOf(await buy(), form), alone());
    expect(warning).toContain('signed receipt alone');
    expect(observations).toHaveLength(1);
  });

  it('tells of the download that a client signs', async () => {
    const { appDownload } = await storeA.validate(await bodyOf(await buy(), 'download'), withApi());
    expect(appDownload).toEqual({ currentVersion: '2.4', originalVersion: '1.2' });
  });

  it('is asked again by what an observation keeps', async () => {
    const id = await buy();
    const { observations } = await storeA.validate(await bodyOf(id, 'signed'), withApi());
    await user.act(id, 'cancel');
    const [again] = (await storeA.refresh?.(observations[0]?.refreshToken ?? {}, withApi())) ?? [];
    expect(again?.purchase).toMatchObject({ purchaseId: `store_a:${id}`, renewalIntent: 'Lapse' });
  });

  it.each(['down', 'rate-limited', 'html', 'cut'])(
    'that is %s leaves the signature to answer, or nothing',
    async (fault) => {
      const id = await buy();
      const body = await bodyOf(id, 'signed');
      await user.addFault({ fault, times: 3 });
      expect((await storeA.validate(body, withApi())).warning).toContain('could not be reached');
      await user.advance('P2M');
      await user.addFault({ fault, times: 3 });
      await expect(storeA.validate(body, withApi())).rejects.toMatchObject({ code: 'ConnectionFailed' });
      await user.control('DELETE', '/control/faults');
      expect(purchaseIn(await storeA.validate(body, withApi()))).toMatchObject({
        cancelationReason: expect.any(String),
      });
    },
  );

  it('accepts its own settings and refuses others', async () => {
    expect(await storeA.checkSettings(withApi(), { callStore: true })).toBe('Apple accepts the API key.');
    const other = { ...withApi(), settings: { ...user.settings('store_a'), keyId: 'OTHER' } };
    await expect(storeA.checkSettings(other, { callStore: true })).rejects.toMatchObject({ code: 'InternalError' });
    await expect(storeA.validate(await bodyOf(await buy(), 'signed'), other)).rejects.toMatchObject({
      code: 'InternalError',
    });
  });
});
