import { describe, expect, it } from '@jest/globals';
import { type Known, merge } from '../../../../lib/purchases/merge.ts';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import {
  appTransactionPayload,
  bought,
  bundleId,
  day,
  oneTimePayload,
  transactionPayload,
} from '../../../support/apple-payloads.ts';
import { mintPki } from '../../../support/apple-pki.ts';
import { receiptContent, signJws, signMessage } from '../../../support/apple-signatures.ts';
import {
  apple,
  appStore,
  asking,
  signedRequest,
  subscriber,
  unreachable,
  validated,
} from '../../../support/fake-apple.ts';

const coin = (id: string, changes: object = {}) =>
  oneTimePayload('Consumable', { transactionId: id, originalTransactionId: id, ...changes });

const onlySettings = { settings: { bundleId } };

describe('what a request to store_a is about', () => {
  const owned = { transactions: [transactionPayload(), coin('2001')], statuses: subscriber(1).statuses ?? [] };
  const about = async (request: object, payload: object = transactionPayload()) => {
    const { id, about, purchaseId } = await validated(owned, payload, { request });
    return { id, about, purchaseId };
  };

  it('is the application when its type or its id says so; its signed transaction then names the purchase', async () => {
    const application = { id: bundleId, about: 'application', purchaseId: 'store_a:1001' };
    expect(await about({})).toEqual(application);
    expect(await about({ id: 'the name of the app' })).toEqual(application);
    expect(await about({ type: 'paid subscription' })).toEqual(application);
  });

  it('is the product when it names one', async () => {
    expect(await about({ id: 'monthly', type: 'paid subscription' })).toEqual({
      id: 'monthly',
      about: 'product',
      purchaseId: 'store_a:1001',
    });
  });

  it('is another product of the account than the signed one, when it names that', async () => {
    expect(await about({ id: 'consumable', type: 'consumable' })).toMatchObject({ purchaseId: 'store_a:2001' });
  });

  it('is no purchase when the account does not hold the product', async () => {
    expect(await about({ id: 'yearly', type: 'paid subscription' })).toMatchObject({
      about: 'product',
      purchaseId: undefined,
    });
  });

  it('is not the product that the customer has changed from', async () => {
    const yearly = transactionPayload({ transactionId: '1002', productId: 'yearly', purchaseDate: bought + day });
    const { purchaseId } = await validated(subscriber(1, yearly), transactionPayload(), {
      request: { id: 'monthly', type: 'paid subscription' },
    });
    expect(purchaseId).toBeUndefined();
  });

  it('is, of several purchases of a consumable, the one that the client signed or names', async () => {
    const coins = {
      transactions: [
        coin('2001'),
        coin('2002', { purchaseDate: bought + day, originalPurchaseDate: bought + day }),
        coin('2003'),
      ],
    };
    const request = { id: 'consumable', type: 'consumable' } as const;
    expect((await validated(coins, coin('2003'), { request })).purchaseId).toBe('store_a:2003');
    const named = { ...request, transaction: { jwsRepresentation: signJws(transactionPayload(), apple), id: '2001' } };
    expect((await validated(coins, transactionPayload(), { request: named })).purchaseId).toBe('store_a:2001');
    const unnamed = { ...named, transaction: { ...named.transaction, id: 'consumable' } };
    expect((await validated(coins, transactionPayload(), { request: unnamed })).purchaseId).toBe('store_a:2002');
  });
});

describe('a validation of store_a', () => {
  it('shows everything that the account owns, and asks twice for it in the common case', async () => {
    const { fetch, calls } = appStore({ Production: { transactions: [transactionPayload(), coin('2001')] } });
    const request = signedRequest(transactionPayload(), { id: 'monthly', type: 'paid subscription' });
    const { observations } = await storeA.validate(request, asking({ fetch }));
    expect(observations.map(({ purchase }) => purchase.purchaseId)).toEqual(['store_a:1001', 'store_a:2001']);
    expect(calls).toEqual([
      'api.storekit.apple.com/inApps/v1/subscriptions/1001',
      'api.storekit.apple.com/inApps/v2/history/1001',
    ]);
  });

  it('follows a long history page by page', async () => {
    const transactions = Array.from({ length: 45 }, (_, index) => coin(String(3000 + index)));
    const { observations, warning } = await validated({ transactions });
    expect(observations).toHaveLength(46);
    expect(warning).toBeUndefined();
  });

  it('ends a history without end, and says so', async () => {
    const transactions = Array.from({ length: 1100 }, (_, index) => coin(String(3000 + index)));
    const { observations, warning } = await validated({ transactions });
    expect(observations).toHaveLength(1001);
    expect(warning).toContain('too long');
  });

  it('asks the environment that Apple signed', async () => {
    const payload = transactionPayload({ environment: 'Sandbox' });
    const { fetch, calls } = appStore({ Sandbox: { transactions: [payload] } });
    const { observations } = await storeA.validate(signedRequest(payload), asking({ fetch }));
    expect(observations[0]?.refreshToken).toMatchObject({ environment: 'Sandbox' });
    expect(new Set(calls.map((call) => call.split('/')[0]))).toEqual(new Set(['api.storekit-sandbox.apple.com']));
  });

  it('counts a signed transaction that the history does not show yet', async () => {
    const renewed = transactionPayload({
      transactionId: '1002',
      purchaseDate: bought + 31 * day,
      expiresDate: bought + 61 * day,
      signedDate: bought + 31 * day,
    });
    const { observations } = await validated(subscriber(2), renewed, { asking: { now: () => bought + 31 * day } });
    expect(observations).toMatchObject([
      { purchase: { transactionId: 'store_a:1002', expirationDate: bought + 61 * day } },
    ]);
    expect(observations[0]?.purchase).not.toHaveProperty('cancelationReason');
  });

  it('takes a JWS in place of the receipt, and a receipt in the deprecated field', async () => {
    const jws = signJws(transactionPayload(), apple);
    const rsa = mintPki({ kind: 'rsa' });
    const content = receiptContent({ 0: 'Production', 2: bundleId, 12: new Date(bought) });
    const receipt = signMessage(content, rsa).toString('base64');
    const settings = { ...onlySettings, extraRoots: [apple.root.der, rsa.root.der] };
    const validate = async (transaction: Record<string, unknown>) =>
      await storeA.validate({ id: bundleId, type: 'application', transaction }, asking(settings));
    expect((await validate({ appStoreReceipt: jws })).observations).toHaveLength(1);
    expect((await validate({ transactionReceipt: ` ${receipt}\n` })).observations).toHaveLength(0);
    expect((await validate({ jwsRepresentation: null, appStoreReceipt: jws })).observations).toHaveLength(1);
  });
});

describe('the native detail of a validation', () => {
  it('is the latest signed transaction of the purchase, with the download in the words of receipts', async () => {
    const renewed = transactionPayload({ transactionId: '1002', purchaseDate: bought + 31 * day });
    const customer = { ...subscriber(1, renewed), download: appTransactionPayload() };
    const { native, appDownload } = await validated(customer);
    expect(native).toMatchObject({
      transactionId: '1002',
      originalTransactionId: '1001',
      original_application_version: '1.2',
      original_purchase_date_ms: String(bought - 90 * day),
    });
    expect(appDownload).toEqual({ currentVersion: '2.4', originalVersion: '1.2' });
  });

  it('does without the download when Apple does not tell it', async () => {
    const { native, appDownload, warning } = await validated(subscriber(1));
    expect(native).not.toHaveProperty('original_application_version');
    expect({ appDownload, warning }).toEqual({});
  });

  it('is the download that the client sent, without what identifies the device', async () => {
    const { native, appDownload, id, about, observations } = await validated({}, appTransactionPayload());
    expect(native).toMatchObject({ bundleId, original_application_version: '1.2' });
    expect(JSON.stringify(native)).not.toContain('deviceVerification');
    expect({ appDownload, id, about, observations }).toEqual({
      appDownload: { currentVersion: '2.4', originalVersion: '1.2' },
      id: bundleId,
      about: 'application',
      observations: [],
    });
  });

  it('lets a signed download find all that the customer bought', async () => {
    const { observations } = await validated({ transactions: [coin('2001')] }, appTransactionPayload());
    expect(observations).toMatchObject([{ purchase: { purchaseId: 'store_a:2001' } }]);
  });
});

describe('the moment that an observation speaks of', () => {
  it('is the latest signature of what Apple answers', async () => {
    const { observations } = await validated(subscriber(1, {}, { signedDate: bought + 5000 }));
    expect(observations[0]?.asOf).toBe(bought + 60_000);
    const later = await validated(subscriber(1, {}, { signedDate: bought + 90_000 }));
    expect(later.observations[0]?.asOf).toBe(bought + 90_000);
  });

  it.each([
    ['the date of the purchase', {}, bought],
    ['the refund', { revocationDate: bought + day, signedDate: bought + 2 * day }, bought + day],
    ['the signature of a renewal that begins later', { purchaseDate: bought + day, signedDate: bought }, bought],
  ])('is %s for evidence alone', async (_title, changes, asOf) => {
    const { observations } = await validated({}, transactionPayload(changes), { asking: onlySettings });
    expect(observations[0]?.asOf).toBe(asOf);
  });

  it('makes evidence of the past, however often it is signed again, yield to what Apple answered since', async () => {
    const lapsing = await validated(subscriber(1, {}, { autoRenewStatus: 0 }));
    const signedAgain = transactionPayload({ signedDate: bought + 20 * day });
    const alone = await validated({}, signedAgain, { asking: { ...onlySettings, now: () => bought + 20 * day } });
    const looks = [...lapsing.observations, ...alone.observations].map(({ refreshToken: _token, ...look }) => look);
    const known = looks.reduce<Known | undefined>(merge, undefined);
    expect([looks.length, known?.purchase.renewalIntent]).toEqual([2, 'Lapse']);
  });
});

describe('evidence alone', () => {
  it('is enough, with a warning, for an application without an API key', async () => {
    const { warning, observations } = await validated({}, transactionPayload(), {
      asking: { ...onlySettings, fetch: unreachable },
    });
    expect(warning).toContain('No App Store Server API key');
    expect(observations).toMatchObject([{ purchase: { expirationDate: bought + 31 * day } }]);
    expect(observations[0]).not.toHaveProperty('refreshToken');
  });
});
