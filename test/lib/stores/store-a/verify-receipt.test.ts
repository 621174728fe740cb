import { describe, expect, it } from '@jest/globals';
import type { ValidationRequest } from '../../../../lib/stores/store.ts';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { bundleId, dayMs, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { encodeReceipt, signMessage } from '../../../../testing/apple-signatures.ts';
import { createContext, jsonResponse, textResponse } from '../../../../testing/fake-apple.ts';

const rsa = createPki({ kind: 'rsa' });
const appStoreReceipt = signMessage(
  encodeReceipt({ 0: 'Production', 2: bundleId, 12: new Date(purchaseDate) }),
  rsa,
).toString('base64');
/** What iOS 6 called a receipt; only Apple can verify it. */
const transactionReceipt = Buffer.from('{\n"purchase-info" = "e30=";\n}').toString('base64');

const monthEnd = purchaseDate + 31 * dayMs;
const now = purchaseDate + dayMs;

const bothHosts =
  (body: object): StoreFetch =>
  async () =>
    jsonResponse(200, body);

const asked = async (fetch: StoreFetch, changes: Partial<ValidationRequest> = {}, at = now) =>
  await storeA.validate(
    { id: bundleId, type: 'application', transaction: { appStoreReceipt }, ...changes },
    createContext({ fetch, settings: { bundleId, sharedSecret: 'secret' }, extraRoots: [rsa.root.der], now: () => at }),
  );

const record = (changes: object = {}) => ({
  quantity: '1',
  product_id: 'monthly',
  transaction_id: '1001',
  original_transaction_id: '1001',
  purchase_date_ms: String(purchaseDate),
  original_purchase_date_ms: String(purchaseDate),
  expires_date_ms: String(monthEnd),
  is_trial_period: 'false',
  is_in_intro_offer_period: 'false',
  in_app_ownership_type: 'PURCHASED',
  subscription_group_identifier: 'group-1',
  ...changes,
});

const pending = (changes: object = {}) => ({
  original_transaction_id: '1001',
  product_id: 'monthly',
  auto_renew_product_id: 'monthly',
  auto_renew_status: '1',
  ...changes,
});

const told = (changes: object = {}) => ({
  status: 0,
  environment: 'Production',
  receipt: {
    receipt_type: 'Production',
    bundle_id: bundleId,
    application_version: '2.4',
    original_application_version: '1.2',
    original_purchase_date_ms: String(purchaseDate - dayMs),
    request_date_ms: String(now),
    in_app: [record()],
  },
  latest_receipt_info: [record()],
  pending_renewal_info: [pending()],
  latest_receipt: 'MIIsecret',
  ...changes,
});

const purchaseOf = async (body: object, at = now) => (await asked(bothHosts(body), {}, at)).observations[0]?.purchase;

describe('verifyReceipt', () => {
  it('is asked in production with the shared secret, for everything', async () => {
    const calls: { url: string; body: unknown }[] = [];
    await asked(async (url, init) => {
      calls.push({ url, body: JSON.parse(init?.body ?? '') });
      return jsonResponse(200, told());
    });
    expect(calls).toEqual([
      {
        url: 'https://buy.itunes.apple.com/verifyReceipt',
        body: { 'receipt-data': appStoreReceipt, password: 'secret', 'exclude-old-transactions': false },
      },
    ]);
  });

  it('is asked in the sandbox when production says that the receipt is from there', async () => {
    const fetch: StoreFetch = async (url) =>
      jsonResponse(200, url.includes('sandbox') ? told({ environment: 'Sandbox' }) : { status: 21007 });
    expect((await asked(fetch)).observations).toMatchObject([{ purchase: { sandbox: true } }]);
  });

  it('shows a subscription with its outlook', async () => {
    const { observations, warning, appDownload, nativeTransaction } = await asked(bothHosts(told()));
    expect(observations).toMatchObject([
      {
        asOf: now,
        purchase: {
          purchaseId: 'store_a:1001',
          productType: 'paid subscription',
          expirationDate: monthEnd,
          renewalIntent: 'Renew',
          isTrialPeriod: false,
          isBillingRetryPeriod: false,
        },
      },
    ]);
    expect(observations[0]).not.toHaveProperty('refreshToken');
    expect(warning).toBeUndefined();
    expect(appDownload).toEqual({ currentVersion: '2.4', originalVersion: '1.2' });
    expect(nativeTransaction).toMatchObject({
      bundle_id: bundleId,
      original_application_version: '1.2',
      in_app: [record()],
    });
    expect(JSON.stringify(nativeTransaction)).not.toContain('MIIsecret');
  });

  it.each([
    ['a cancelled renewal', now, {}, { auto_renew_status: '0' }, { renewalIntent: 'Lapse', expirationDate: monthEnd }],
    ['a trial', now, { is_trial_period: 'true' }, {}, { isTrialPeriod: true, isIntroPeriod: false, amountMicros: 0 }],
    ['an introduction', now, { is_in_intro_offer_period: 'true' }, {}, { isIntroPeriod: true }],
    [
      'a promotional offer',
      now,
      { promotional_offer_id: 'back' },
      {},
      { discountId: 'back', offerId: 'store_a:monthly#back' },
    ],
    ['an offer code', now, { offer_code_ref_name: 'code' }, {}, { discountId: 'code' }],
    ['a family share', now, { in_app_ownership_type: 'FAMILY_SHARED' }, {}, { isSharedPurchase: true }],
    ['an open price', now, {}, { price_consent_status: '0' }, { priceConsentStatus: 'Notified' }],
    ['an accepted price', now, {}, { price_consent_status: '1' }, { priceConsentStatus: 'Agreed' }],
    [
      'a grace period',
      monthEnd + dayMs,
      {},
      { grace_period_expires_date_ms: String(monthEnd + 16 * dayMs) },
      { isBillingRetryPeriod: true, expirationDate: monthEnd + 16 * dayMs },
    ],
    [
      'a billing retry',
      monthEnd + dayMs,
      {},
      { is_in_billing_retry_period: '1' },
      { isBillingRetryPeriod: true, expirationDate: monthEnd, cancelationReason: 'System.BillingError' },
    ],
    [
      'an expiry',
      monthEnd + dayMs,
      {},
      { expiration_intent: '3', auto_renew_status: '0' },
      { cancelationReason: 'Customer.PriceIncrease', renewalIntent: 'Lapse' },
    ],
    [
      'a refund',
      now,
      { cancellation_date_ms: String(now), cancellation_reason: '1' },
      {},
      { endedAt: now, cancelationReason: 'Customer.TechnicalIssues' },
    ],
    [
      'an upgrade',
      now,
      { cancellation_date_ms: String(now), is_upgraded: 'true' },
      {},
      { endedAt: now, cancelationReason: 'System.Replaced' },
    ],
  ])('tells of %s', async (_title, at, changes, outlook, expected) => {
    const { receipt, ...body } = told({
      latest_receipt_info: [record(changes)],
      pending_renewal_info: [pending(outlook)],
    });
    const result = { ...body, receipt: { ...receipt, request_date_ms: String(at) } };
    // An upgraded transaction alone has no successor that the outlook could be of.
    const withoutOutlook = { ...result, pending_renewal_info: [] };
    expect(await purchaseOf('is_upgraded' in changes ? withoutOutlook : result, at)).toMatchObject(expected);
  });

  it('counts an upgrade as no refund', async () => {
    const upgraded = record({ cancellation_date_ms: String(now), is_upgraded: 'true' });
    const { observations } = await asked(bothHosts(told({ latest_receipt_info: [upgraded] })));
    expect(observations[0]?.transactions[0]).not.toHaveProperty('refundedAt');
  });

  it.each([
    ['missing', undefined],
    ['empty', []],
    ['an object', record()],
  ])('may answer with a list of the latest purchases that is %s', async (_title, latest) => {
    expect(await purchaseOf(told({ latest_receipt_info: latest }))).toMatchObject({ transactionId: 'store_a:1001' });
  });

  it('knows more of a transaction in its later lists than in the receipt', async () => {
    const renewed = record({
      transaction_id: '1002',
      purchase_date_ms: String(monthEnd),
      expires_date_ms: String(monthEnd + 30 * dayMs),
    });
    const body = told({ latest_receipt_info: [renewed, record({ offer_code_ref_name: 'code' })] });
    const { observations } = await asked(bothHosts(body));
    expect(observations).toHaveLength(1);
    expect(observations[0]?.transactions.map(({ transactionId, offerId }) => [transactionId, offerId])).toEqual([
      ['store_a:1001', 'store_a:monthly#code'],
      ['store_a:1002', undefined],
    ]);
  });

  it('gives no prices: the one of the request counts for the latest transaction of its product', async () => {
    const renewed = record({ transaction_id: '1002', purchase_date_ms: String(monthEnd), quantity: '2' });
    const other = record({
      transaction_id: '2001',
      original_transaction_id: '2001',
      product_id: 'hat',
      expires_date_ms: undefined,
    });
    const body = told({ latest_receipt_info: [renewed, record(), other] });
    const request = { id: 'monthly', type: 'paid subscription', priceMicros: 4_990_000, currency: 'USD' } as const;
    const { observations } = await asked(bothHosts(body), request);
    const amounts = observations.flatMap(({ transactions }) =>
      transactions.map(({ transactionId, amountMicros, isReportedAmount }) => [
        transactionId,
        amountMicros,
        isReportedAmount,
      ]),
    );
    expect(amounts).toEqual([
      ['store_a:1001', undefined, undefined],
      ['store_a:1002', 9_980_000, true],
      ['store_a:2001', undefined, undefined],
    ]);
  });

  it('gives no type of what never expires: the one of the request counts for its product', async () => {
    const hat = record({
      transaction_id: '2001',
      original_transaction_id: '2001',
      product_id: 'hat',
      expires_date_ms: undefined,
    });
    const body = told({
      latest_receipt_info: [hat],
      receipt: { bundle_id: bundleId, in_app: [] },
      pending_renewal_info: [],
    });
    const { observations } = await asked(bothHosts(body), { id: 'hat', type: 'non consumable' });
    expect(observations).toMatchObject([{ purchase: { productType: 'non consumable' } }]);
  });

  it('tells which introductory prices are used up', async () => {
    const yearly = record({ transaction_id: '1002', product_id: 'yearly', purchase_date_ms: String(monthEnd) });
    const body = told({ latest_receipt_info: [record({ is_trial_period: 'true' }), yearly] });
    expect((await asked(bothHosts(body))).ineligibleForIntroPrice).toEqual(['monthly', 'yearly']);
  });

  it('judges a receipt of iOS 6, which is its own only transaction', async () => {
    const { in_app: _none, ...flat } = {
      ...record(),
      bid: bundleId,
      expires_date: String(monthEnd),
      in_app: undefined,
    };
    const { expires_date_ms: _unknown, ...receipt } = flat;
    const body = { status: 21006, receipt, latest_expired_receipt_info: receipt };
    const request = { transaction: { transactionReceipt } };
    const { observations } = await asked(bothHosts(body), request, monthEnd + dayMs);
    expect(observations).toMatchObject([{ purchase: { purchaseId: 'store_a:1001', expirationDate: monthEnd } }]);
  });
});

describe('verifyReceipt refuses', () => {
  const onlyApple = { transaction: { transactionReceipt } };

  it.each([
    ['a receipt that it cannot read', { status: 21002 }, 'InvalidPayload'],
    ['a receipt that it did not issue', { status: 21003 }, 'InvalidPayload'],
    ['the receipt of a deleted account', { status: 21010 }, 'InvalidPayload'],
    ['the receipt of another application', told({ receipt: { bundle_id: 'com.example.other' } }), 'InvalidPayload'],
    ['the shared secret', { status: 21004 }, 'InternalError'],
    ['the way that it is asked', { status: 21000 }, 'InternalError'],
    ['for good: an error in accessing data', { status: 21150, 'is-retryable': false }, 'InternalError'],
    ['for now: an error in accessing data', { status: 21150, 'is-retryable': true }, 'ConnectionFailed'],
    ['for now: it is down', { status: 21005 }, 'ConnectionFailed'],
    ['for now: an internal error', { status: 21009 }, 'ConnectionFailed'],
    ['in both environments', { status: 21007 }, 'ConnectionFailed'],
    ['with other words', { status: 0 }, 'ConnectionFailed'],
    ['with a status that is none', { status: 'fine' }, 'ConnectionFailed'],
  ])('%s', async (_title, body, code) => {
    await expect(asked(bothHosts(body), onlyApple)).rejects.toMatchObject({ code });
  });

  it.each([
    ['a page', textResponse(200, '<html></html>')],
    ['an outage', textResponse(503, 'down')],
  ])('nothing, but gives %s', async (_title, given) => {
    await expect(asked(async () => given, onlyApple)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('as unreadable what was verified here: then it is out of order, and the signature has to do', async () => {
    expect((await asked(bothHosts({ status: 21002 }))).warning).toContain('could not be reached');
  });
});
