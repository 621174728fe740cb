import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { type EmulatorClient, startEmulatorClient, startTime, type TestResponse } from './emulator-client.ts';

const hosts = { production: 'buy.itunes.apple.com', sandbox: 'sandbox.itunes.apple.com' } as const;

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

const verify = (body: object, host: keyof typeof hosts = 'production'): Promise<TestResponse> =>
  user.call(`/${hosts[host]}/verifyReceipt`, { method: 'POST', body: JSON.stringify(body) });

const request = (bought: TestResponse, changes: object = {}): object => ({
  'receipt-data': bought.body.validate.transaction.appStoreReceipt,
  password: user.settings('store_a').sharedSecret,
  ...changes,
});

describe('verifyReceipt', () => {
  let bought: TestResponse;
  beforeAll(async () => {
    bought = await user.buy({ applicationUsername: 'alice', trial: true, form: 'receipt' });
  });

  it('lists what the receipt holds and what became of it since', async () => {
    const reader = { applicationUsername: 'bob', form: 'receipt' };
    const { body } = await user.buy({ ...reader, trial: true });
    const coins = await user.buy({ ...reader, productId: 'coins', type: 'consumable', quantity: 2 });
    const receipt = (await user.control('GET', `/control/purchases/${body.id}?form=receipt`)).body;
    await user.act(body.id, 'renew');
    await user.act(body.id, 'cancel');
    const result = (await verify(request({ ...coins, body: receipt }))).body;
    expect(result).toMatchObject({ status: 0, environment: 'Production', latest_receipt: expect.any(String) });
    expect(result.receipt).toMatchObject({
      receipt_type: 'Production',
      bundle_id: 'com.example.app',
      receipt_creation_date_ms: String(startTime),
      original_application_version: '1.2',
    });
    const held = result.receipt.in_app.map((one: { product_id: string; quantity: string }) => [
      one.product_id,
      one.quantity,
    ]);
    expect(held.sort()).toEqual([
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
  ])('tells what comes next after %s %j', async (action, details, expected) => {
    const { body } = await user.buy();
    const acted = await user.act(body.id, action, { ...details, form: 'receipt' });
    const [pending] = (await verify(request(acted))).body.pending_renewal_info;
    const shown = Object.fromEntries(Object.keys(expected).map((name) => [name, pending[name]]));
    expect(shown).toEqual(expected);
  });

  it('tells of a refund', async () => {
    const { body } = await user.buy({ productId: 'book', type: 'non consumable' });
    const refunded = await user.act(body.id, 'refund', { form: 'receipt' });
    const { receipt, ...result } = (await verify(request(refunded))).body;
    expect(receipt.in_app[0]).toMatchObject({ cancellation_date_ms: String(startTime), cancellation_reason: '0' });
    expect(result).not.toHaveProperty('latest_receipt_info');
  });

  it('leaves out old transactions when asked to', async () => {
    const { body } = await user.buy({ applicationUsername: 'carol' });
    const renewed = await user.act(body.id, 'renew', { form: 'receipt' });
    const result = await verify(request(renewed, { 'exclude-old-transactions': true }));
    expect(result.body.latest_receipt_info).toHaveLength(1);
    expect(result.body.latest_receipt_info[0].transaction_id).toBe(renewed.body.transactionId);
  });

  it('gives a latest receipt that it verifies again', async () => {
    const { body } = await verify(request(bought));
    const again = await verify(request(bought, { 'receipt-data': body.latest_receipt }));
    expect(again.body.receipt.in_app).toEqual(body.receipt.in_app);
  });

  const flipped = (receipt: string): string => {
    const bytes = Buffer.from(receipt, 'base64');
    bytes.write('A', bytes.indexOf('monthly'));
    return bytes.toString('base64');
  };

  test.each<[string, number, () => Promise<TestResponse>]>([
    ['a GET', 21000, () => user.call(`/${hosts.production}/verifyReceipt`)],
    ['no JSON', 21002, () => user.call(`/${hosts.production}/verifyReceipt`, { method: 'POST', body: '{' })],
    ['no receipt', 21002, () => verify({})],
    ['no base64', 21002, () => verify(request(bought, { 'receipt-data': '%%%' }))],
    ['no PKCS#7', 21002, () => verify(request(bought, { 'receipt-data': 'aGVsbG8=' }))],
    ['a changed receipt', 21003, () => verify(request(bought, { 'receipt-data': flipped(receiptOf(bought)) }))],
    ['another secret', 21004, () => verify(request(bought, { password: 'guess' }))],
    ['a production receipt in the sandbox', 21008, () => verify(request(bought), 'sandbox')],
    [
      'a sandbox receipt in production',
      21007,
      async () => verify(request(await user.buy({ sandbox: true, form: 'receipt' }))),
    ],
  ])('answers %s with status %i', async (_name, status, ask) => {
    expect(await ask()).toMatchObject({ status: 200, body: { status } });
  });
});

const receiptOf = (bought: TestResponse): string => bought.body.validate.transaction.appStoreReceipt;
