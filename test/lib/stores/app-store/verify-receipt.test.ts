import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { appStore } from '../../../../lib/stores/app-store/app-store.ts';
import type { ValidationRequest } from '../../../../lib/stores/store.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { bundleId, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { encodeReceipt, signMessage } from '../../../../testing/apple-signatures.ts';
import { createContext, jsonResponse, textResponse } from '../../../../testing/fake-apple.ts';

const rsa = createPki({ kind: 'rsa' });
const appStoreReceipt = signMessage(
  encodeReceipt({ 0: 'Production', 2: bundleId, 12: new Date(purchaseDate) }),
  rsa,
).toString('base64');

/** An iOS 6 receipt, which only verifyReceipt can verify. */
const transactionReceipt = Buffer.from('{\n"purchase-info" = "e30=";\n}').toString('base64');

const monthEnd = purchaseDate + 31 * dayMs;
const now = purchaseDate + dayMs;

const respond =
  (body: object): StoreFetch =>
  async () =>
    jsonResponse(200, body);

const validate = async (fetch: StoreFetch, changes: Partial<ValidationRequest> = {}, validatedAt = now) =>
  await appStore.validate(
    { id: bundleId, type: 'application', transaction: { appStoreReceipt }, ...changes },
    createContext({
      fetch,
      settings: { bundleId, sharedSecret: 'secret' },
      extraRoots: [rsa.root.der],
      now: () => validatedAt,
    }),
  );

const buildRecord = (changes: object = {}) => ({
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

const buildPending = (changes: object = {}) => ({
  original_transaction_id: '1001',
  product_id: 'monthly',
  auto_renew_product_id: 'monthly',
  auto_renew_status: '1',
  ...changes,
});

const buildResponse = (changes: object = {}) => ({
  status: 0,
  environment: 'Production',
  receipt: {
    receipt_type: 'Production',
    bundle_id: bundleId,
    application_version: '2.4',
    original_application_version: '1.2',
    original_purchase_date_ms: String(purchaseDate - dayMs),
    request_date_ms: String(now),
    in_app: [buildRecord()],
  },
  latest_receipt_info: [buildRecord()],
  pending_renewal_info: [buildPending()],
  latest_receipt: 'MIIsecret',
  ...changes,
});

const validatePurchase = async (body: object, validatedAt = now) =>
  (await validate(respond(body), {}, validatedAt)).observations[0]?.purchase;

describe('validate (App Store) by verifyReceipt', () => {
  it('sends the receipt and the shared secret to production', async () => {
    const calls: { url: string; body: unknown }[] = [];
    await validate(async (url, init) => {
      calls.push({ url, body: JSON.parse(init?.body ?? '') });
      return jsonResponse(200, buildResponse());
    });
    expect(calls).toEqual([
      {
        url: 'https://buy.itunes.apple.com/verifyReceipt',
        body: { 'receipt-data': appStoreReceipt, password: 'secret', 'exclude-old-transactions': false },
      },
    ]);
  });

  it('sends a sandbox receipt to the sandbox', async () => {
    const fetch: StoreFetch = async (url) =>
      jsonResponse(200, url.includes('sandbox') ? buildResponse({ environment: 'Sandbox' }) : { status: 21007 });
    expect((await validate(fetch)).observations).toMatchObject([{ purchase: { sandbox: true } }]);
  });

  it('maps a subscription with its renewal information', async () => {
    const { observations, warning, appDownload, nativeTransaction } = await validate(respond(buildResponse()));
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
      in_app: [buildRecord()],
    });
    expect(JSON.stringify(nativeTransaction)).not.toContain('MIIsecret');
  });

  it.each([
    ['a canceled renewal', now, {}, { auto_renew_status: '0' }, { renewalIntent: 'Lapse', expirationDate: monthEnd }],
    [
      'a free trial',
      now,
      { is_trial_period: 'true' },
      {},
      { isTrialPeriod: true, isIntroPeriod: false, amountMicros: 0 },
    ],
    ['an introductory offer', now, { is_in_intro_offer_period: 'true' }, {}, { isIntroPeriod: true }],
    [
      'a promotional offer',
      now,
      { promotional_offer_id: 'back' },
      {},
      { discountId: 'back', offerId: 'store_a:monthly#back' },
    ],
    ['an offer code', now, { offer_code_ref_name: 'code' }, {}, { discountId: 'code' }],
    ['a shared purchase', now, { in_app_ownership_type: 'FAMILY_SHARED' }, {}, { isSharedPurchase: true }],
    ['a price increase without consent', now, {}, { price_consent_status: '0' }, { priceConsentStatus: 'Notified' }],
    ['a price increase with consent', now, {}, { price_consent_status: '1' }, { priceConsentStatus: 'Agreed' }],
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
      'an expiration',
      monthEnd + dayMs,
      {},
      { expiration_intent: '3', auto_renew_status: '0' },
      { cancelationReason: 'Customer.PriceIncrease', renewalIntent: 'Lapse' },
    ],
    [
      'a renewal that Apple has not processed yet',
      monthEnd + 30_000,
      {},
      {},
      { renewalIntent: 'Renew', isBillingRetryPeriod: false, expirationDate: monthEnd + 630_000 },
    ],
    [
      'an end without a reason',
      monthEnd + dayMs,
      {},
      {},
      { renewalIntent: 'Lapse', cancelationReason: 'Unknown', expirationDate: monthEnd },
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
  ])('maps %s', async (_title, validatedAt, changes, renewal, expected) => {
    const { receipt, ...body } = buildResponse({
      latest_receipt_info: [buildRecord(changes)],
      pending_renewal_info: [buildPending(renewal)],
    });
    const result = { ...body, receipt: { ...receipt, request_date_ms: String(validatedAt) } };
    // An upgraded transaction without a successor lacks renewal information.
    const withoutRenewal = { ...result, pending_renewal_info: [] };
    expect(await validatePurchase('is_upgraded' in changes ? withoutRenewal : result, validatedAt)).toMatchObject(
      expected,
    );
  });

  it('does not map an upgrade to a refund', async () => {
    const upgraded = buildRecord({ cancellation_date_ms: String(now), is_upgraded: 'true' });
    const { observations } = await validate(respond(buildResponse({ latest_receipt_info: [upgraded] })));
    expect(observations[0]?.transactions[0]).not.toHaveProperty('refundedAt');
  });

  it.each([
    ['seconds after the purchase of another product to a replacement', 'premium', 2_000, [true, undefined]],
    ['at the purchase of the same product to a refund', 'monthly', 0, [undefined, now]],
    ['hours after the purchase of another product to a refund', 'premium', 7_200_000, [undefined, now]],
  ])('maps a cancellation %s', async (_title, productId, delayMs, expected) => {
    // Only latest_receipt_info has `is_upgraded`.
    const former = buildRecord({ cancellation_date_ms: String(now) });
    const latest = buildRecord({
      transaction_id: '1002',
      product_id: productId,
      purchase_date_ms: String(now - delayMs),
      expires_date_ms: String(monthEnd + dayMs),
    });
    const { receipt, ...body } = buildResponse({ latest_receipt_info: undefined });
    const response = { ...body, receipt: { ...receipt, in_app: [former, latest] } };
    const { observations } = await validate(respond(response));
    const [transaction] = observations[0]?.transactions ?? [];
    expect([transaction?.isReplaced, transaction?.refundedAt]).toEqual(expected);
  });

  it.each([
    ['missing', undefined],
    ['empty', []],
    ['an object', buildRecord()],
  ])('accepts a response in which latest_receipt_info is %s', async (_title, latest) => {
    expect(await validatePurchase(buildResponse({ latest_receipt_info: latest }))).toMatchObject({
      transactionId: 'store_a:1001',
    });
  });

  it('prefers latest_receipt_info to the transactions of the receipt', async () => {
    const renewed = buildRecord({
      transaction_id: '1002',
      purchase_date_ms: String(monthEnd),
      expires_date_ms: String(monthEnd + 30 * dayMs),
    });
    const body = buildResponse({ latest_receipt_info: [renewed, buildRecord({ offer_code_ref_name: 'code' })] });
    const { observations } = await validate(respond(body));
    expect(observations).toHaveLength(1);
    expect(observations[0]?.transactions.map(({ transactionId, offerId }) => [transactionId, offerId])).toEqual([
      ['store_a:1001', 'store_a:monthly#code'],
      ['store_a:1002', undefined],
    ]);
  });

  it('applies the price of the request to the latest transaction of the requested product', async () => {
    const renewed = buildRecord({ transaction_id: '1002', purchase_date_ms: String(monthEnd), quantity: '2' });
    const hat = buildRecord({
      transaction_id: '2001',
      original_transaction_id: '2001',
      product_id: 'hat',
      expires_date_ms: undefined,
    });
    const body = buildResponse({ latest_receipt_info: [renewed, buildRecord(), hat] });
    const request = { id: 'monthly', type: 'paid subscription', priceMicros: 4_990_000, currency: 'USD' } as const;
    const { observations } = await validate(respond(body), request);
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

  it.each([
    ['an introductory offer', { is_in_intro_offer_period: 'true' }],
    ['a promotional offer', { promotional_offer_id: 'half' }],
    ['an offer code', { offer_code_ref_name: 'spring' }],
  ])('does not apply the price of the request to %s, whose price is unknown', async (_offer, changes) => {
    const request = { id: 'monthly', type: 'paid subscription', priceMicros: 4_990_000, currency: 'USD' } as const;
    const { observations } = await validate(
      respond(buildResponse({ latest_receipt_info: [buildRecord(changes)] })),
      request,
    );
    expect(observations[0]?.transactions[0]).not.toHaveProperty('amountMicros');
  });

  it('applies the type of the request to a product without expiration', async () => {
    const hat = buildRecord({
      transaction_id: '2001',
      original_transaction_id: '2001',
      product_id: 'hat',
      expires_date_ms: undefined,
    });
    const body = buildResponse({
      latest_receipt_info: [hat],
      receipt: { bundle_id: bundleId, in_app: [] },
      pending_renewal_info: [],
    });
    const { observations } = await validate(respond(body), { id: 'hat', type: 'non consumable' });
    expect(observations).toMatchObject([{ purchase: { productType: 'non consumable' } }]);
  });

  it('lists the products without an introductory price', async () => {
    const yearly = buildRecord({ transaction_id: '1002', product_id: 'yearly', purchase_date_ms: String(monthEnd) });
    const body = buildResponse({ latest_receipt_info: [buildRecord({ is_trial_period: 'true' }), yearly] });
    expect((await validate(respond(body))).ineligibleForIntroPrice).toEqual(['monthly', 'yearly']);
  });

  it('maps an iOS 6 receipt to one transaction', async () => {
    const { in_app: _none, ...flat } = {
      ...buildRecord(),
      bid: bundleId,
      expires_date: String(monthEnd),
      in_app: undefined,
    };
    const { expires_date_ms: _unknown, ...receipt } = flat;
    const body = { status: 21006, receipt, latest_expired_receipt_info: receipt };
    const request = { transaction: { transactionReceipt } };
    const { observations } = await validate(respond(body), request, monthEnd + dayMs);
    expect(observations).toMatchObject([{ purchase: { purchaseId: 'store_a:1001', expirationDate: monthEnd } }]);
  });
});

describe('validate (App Store) with an error of verifyReceipt', () => {
  const unverifiedReceipt = { transaction: { transactionReceipt } };

  it.each([
    ['InvalidPayload', 'a malformed receipt', { status: 21002 }],
    ['InvalidPayload', 'a receipt that is not authenticated', { status: 21003 }],
    ['InvalidPayload', 'a deleted account', { status: 21010 }],
    ['InvalidPayload', 'a different bundleId', buildResponse({ receipt: { bundle_id: 'com.example.other' } })],
    ['InternalError', 'a wrong shared secret', { status: 21004 }],
    ['InternalError', 'an invalid request', { status: 21000 }],
    ['InternalError', 'a permanent data access error', { status: 21150, 'is-retryable': false }],
    ['ConnectionFailed', 'a retryable data access error', { status: 21150, 'is-retryable': true }],
    ['ConnectionFailed', 'an unavailable server', { status: 21005 }],
    ['ConnectionFailed', 'an internal error', { status: 21009 }],
    ['ConnectionFailed', 'a sandbox receipt status from the sandbox', { status: 21007 }],
    ['ConnectionFailed', 'a success without a receipt', { status: 0 }],
    ['ConnectionFailed', 'an invalid status', { status: 'fine' }],
  ])('throws %s for %s', async (code, _title, body) => {
    await expect(validate(respond(body), unverifiedReceipt)).rejects.toMatchObject({ code });
  });

  it.each([
    ['HTML', textResponse(200, '<html></html>')],
    ['HTTP 503', textResponse(503, 'down')],
  ])('throws ConnectionFailed for %s', async (_title, response) => {
    await expect(validate(async () => response, unverifiedReceipt)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('relies on the signature if verifyReceipt returns malformed for a verified receipt', async () => {
    expect((await validate(respond({ status: 21002 }))).warning).toContain('The App Store is unavailable');
  });
});
