import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient, startTime, type TestResponse } from './emulator-client.ts';

const hosts = { production: 'buy.itunes.apple.com', sandbox: 'sandbox.itunes.apple.com' } as const;

let client: EmulatorClient;
beforeAll(async () => {
  client = await startEmulatorClient();
});
afterAll(() => client.close());

const verify = (body: object, host: keyof typeof hosts = 'production'): Promise<TestResponse> =>
  client.call(`/${hosts[host]}/verifyReceipt`, { method: 'POST', body: JSON.stringify(body) });

const request = (purchase: TestResponse, changes: object = {}): object => ({
  'receipt-data': purchase.body.validate.transaction.appStoreReceipt,
  password: client.settings('store_a').sharedSecret,
  ...changes,
});

describe('verifyReceipt', () => {
  let purchase: TestResponse;
  beforeAll(async () => {
    purchase = await client.buy({ applicationUsername: 'alice', trial: true, form: 'receipt' });
  });

  it('returns the purchases of the receipt and later transactions', async () => {
    const reader = { applicationUsername: 'bob', form: 'receipt' };
    const { body } = await client.buy({ ...reader, trial: true });
    const coins = await client.buy({ ...reader, productId: 'coins', type: 'consumable', quantity: 2 });
    const receipt = (await client.control('GET', `/control/purchases/${body.id}?form=receipt`)).body;
    await client.act(body.id, 'renew');
    await client.act(body.id, 'cancel');
    const result = (await verify(request({ ...coins, body: receipt }))).body;
    expect(result).toMatchObject({ status: 0, environment: 'Production', latest_receipt: expect.any(String) });
    expect(result.receipt).toMatchObject({
      receipt_type: 'Production',
      bundle_id: 'com.example.app',
      receipt_creation_date_ms: String(startTime),
      original_application_version: '1.2',
    });
    const purchases = result.receipt.in_app.map((item: { product_id: string; quantity: string }) => [
      item.product_id,
      item.quantity,
    ]);
    expect(purchases.sort()).toEqual([
      ['coins', '2'],
      ['monthly', '1'],
    ]);
    expect(result.latest_receipt_info).toHaveLength(3);
    expect(result.latest_receipt_info[0]).toMatchObject({
      product_id: 'monthly',
      original_transaction_id: body.id,
      expires_date: '2027-03-31 10:00:00 Etc/GMT',
      expires_date_ms: String(Date.parse('2027-03-31T10:00:00Z')),
      expires_date_pst: '2027-03-31 03:00:00 America/Los_Angeles',
      is_trial_period: 'false',
      is_in_intro_offer_period: 'false',
      in_app_ownership_type: 'PURCHASED',
      app_account_token: '9f9d51bc-70ef-31ca-8c14-f307980a29d8',
    });
    expect(result.pending_renewal_info).toEqual([
      {
        auto_renew_product_id: 'monthly',
        product_id: 'monthly',
        original_transaction_id: body.id,
        auto_renew_status: '0',
      },
    ]);
  });

  test.each([
    [
      'fail-payment',
      {},
      {
        is_in_billing_retry_period: undefined,
        grace_period_expires_date_ms: String(Date.parse('2027-03-16T10:00:00Z')),
      },
    ],
    [
      'fail-payment',
      { grace: false },
      { is_in_billing_retry_period: '1', expiration_intent: '2', auto_renew_status: '1' },
    ],
    ['expire', {}, { is_in_billing_retry_period: '0', expiration_intent: '5', auto_renew_status: '0' }],
    ['raise-price', {}, { price_consent_status: '0' }],
  ])('returns the pending renewal after %s %j', async (action, details, expected) => {
    const { body } = await client.buy();
    const acted = await client.act(body.id, action, { ...details, form: 'receipt' });
    const [pending] = (await verify(request(acted))).body.pending_renewal_info;
    const renewal = Object.fromEntries(Object.keys(expected).map((name) => [name, pending[name]]));
    expect(renewal).toEqual(expected);
  });

  it('returns a refund', async () => {
    const { body } = await client.buy({ productId: 'book', type: 'non consumable' });
    const refunded = await client.act(body.id, 'refund', { form: 'receipt' });
    const { receipt, ...result } = (await verify(request(refunded))).body;
    expect(receipt.in_app[0]).toMatchObject({ cancellation_date_ms: String(startTime), cancellation_reason: '0' });
    expect(result).not.toHaveProperty('latest_receipt_info');
  });

  it('omits old transactions on request', async () => {
    const { body } = await client.buy({ applicationUsername: 'carol' });
    const renewed = await client.act(body.id, 'renew', { form: 'receipt' });
    const result = await verify(request(renewed, { 'exclude-old-transactions': true }));
    expect(result.body.latest_receipt_info).toHaveLength(1);
    expect(result.body.latest_receipt_info[0].transaction_id).toBe(renewed.body.transactionId);
  });

  it('returns a latest receipt that it accepts', async () => {
    const { body } = await verify(request(purchase));
    const second = await verify(request(purchase, { 'receipt-data': body.latest_receipt }));
    expect(second.body.receipt.in_app).toEqual(body.receipt.in_app);
  });

  const corrupt = (receipt: string): string => {
    const bytes = Buffer.from(receipt, 'base64');
    bytes.write('A', bytes.indexOf('monthly'));
    return bytes.toString('base64');
  };

  test.each<[string, number, () => Promise<TestResponse>]>([
    ['a GET', 21000, () => client.call(`/${hosts.production}/verifyReceipt`)],
    [
      'a body that is not JSON',
      21002,
      () => client.call(`/${hosts.production}/verifyReceipt`, { method: 'POST', body: '{' }),
    ],
    ['a missing receipt', 21002, () => verify({})],
    ['a receipt that is not base64', 21002, () => verify(request(purchase, { 'receipt-data': '%%%' }))],
    ['a receipt that is not PKCS#7', 21002, () => verify(request(purchase, { 'receipt-data': 'aGVsbG8=' }))],
    ['a changed receipt', 21003, () => verify(request(purchase, { 'receipt-data': corrupt(getReceipt(purchase)) }))],
    ['another shared secret', 21004, () => verify(request(purchase, { password: 'guess' }))],
    ['a production receipt in the sandbox', 21008, () => verify(request(purchase), 'sandbox')],
    [
      'a sandbox receipt in production',
      21007,
      async () => verify(request(await client.buy({ sandbox: true, form: 'receipt' }))),
    ],
  ])('responds to %s with status %i', async (_name, status, send) => {
    expect(await send()).toMatchObject({ status: 200, body: { status } });
  });
});

const getReceipt = (purchase: TestResponse): string => purchase.body.validate.transaction.appStoreReceipt;
