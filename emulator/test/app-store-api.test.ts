import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it, test } from '@jest/globals';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import {
  decodePayload,
  signDeveloperToken,
  startEmulatorClient,
  startTime,
  type TestResponse,
} from './emulator-client.ts';

const productionHost = 'api.storekit.apple.com';
const sandboxHost = 'api.storekit-sandbox.apple.com';

const client = startBeforeAll(startEmulatorClient);

describe('App Store Server API without a valid token', () => {
  const hour = 3600;
  const seconds = (): number => Math.floor(client.clock.now() / 1000);
  const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });

  test.each<[string, () => string]>([
    ['a missing token', () => ''],
    ['a token that is not a JWT', () => 'Bearer abc'],
    ['a token of another key', () => `Bearer ${signDeveloperToken(client, { privateKey: otherKey.toString() })}`],
    ['a token with another key id', () => `Bearer ${signDeveloperToken(client, { header: { kid: 'X' } })}`],
    ['a token without a signature', () => `Bearer ${signDeveloperToken(client, { header: { alg: 'none' } })}`],
    ['a token of another issuer', () => `Bearer ${signDeveloperToken(client, { claims: { iss: 'other-issuer' } })}`],
    ['a token for another audience', () => `Bearer ${signDeveloperToken(client, { claims: { aud: 'elsewhere' } })}`],
    ['a token for another app', () => `Bearer ${signDeveloperToken(client, { claims: { bid: 'com.example.other' } })}`],
    [
      'an expired token',
      () => `Bearer ${signDeveloperToken(client, { claims: { iat: seconds() - hour, exp: seconds() } })}`,
    ],
    [
      'a token with a TTL above one hour',
      () => `Bearer ${signDeveloperToken(client, { claims: { exp: seconds() + hour + 1 } })}`,
    ],
  ])('responds to %s with 401 in plain text', async (_name, authorization) => {
    const { status, body, headers } = await client.call(`/${productionHost}/inApps/v1/transactions/1`, {
      headers: { authorization: authorization() },
    });
    expect({ status, body }).toEqual({ status: 401, body: 'Unauthenticated\n' });
    expect(headers.get('content-type')).toContain('text/plain');
  });
});

describe('App Store Server API for a missing entity', () => {
  test.each([
    ['/inApps/v1/transactions/none', 400, { errorCode: 4000006, errorMessage: 'Invalid transaction id.' }],
    ['/inApps/v1/transactions/123', 404, { errorCode: 4040010, errorMessage: 'Transaction id not found.' }],
    ['/inApps/v1/subscriptions/123', 404, { errorCode: 4040010 }],
    ['/inApps/v2/history/123', 404, { errorCode: 4040010 }],
    ['/inApps/v2/refund/lookup/123', 404, { errorCode: 4040010 }],
    ['/inApps/v1/transactions/appTransactions/123', 404, { errorCode: 4040010 }],
  ])('responds to %s with status %i', async (path, status, body) => {
    expect(await client.callServerApi(path)).toMatchObject({ status, body });
  });

  it('does not return transactions of the other environment', async () => {
    const production = (await client.buy()).body.id;
    const sandbox = (await client.buy({ sandbox: true })).body.id;
    expect(await client.callServerApi(`/inApps/v1/transactions/${production}`, sandboxHost)).toMatchObject({
      status: 404,
    });
    expect(await client.callServerApi(`/inApps/v1/transactions/${sandbox}`, productionHost)).toMatchObject({
      status: 404,
    });
    const found = await client.callServerApi(`/inApps/v1/transactions/${sandbox}`, sandboxHost);
    expect(decodePayload(found.body.signedTransactionInfo).environment).toBe('Sandbox');
  });
});

describe('GET /inApps/v1/subscriptions/{id}', () => {
  it('returns all subscriptions of the account by group', async () => {
    const { id } = (await client.buy({ applicationUsername: 'alice' })).body;
    await client.act(id, 'expire');
    const sportsId = (await client.buy({ applicationUsername: 'alice', productId: 'sports' })).body.id;
    const statuses = ({ body }: TestResponse): unknown =>
      body.data.map(({ lastTransactions }: { lastTransactions: { originalTransactionId: string; status: number }[] }) =>
        lastTransactions.map(({ originalTransactionId, status }) => [originalTransactionId, status]),
      );
    expect(statuses(await client.callServerApi(`/inApps/v1/subscriptions/${sportsId}`))).toEqual([
      [[id, 2]],
      [[sportsId, 1]],
    ]);
    expect(statuses(await client.callServerApi(`/inApps/v1/subscriptions/${sportsId}?status=2&status=3`))).toEqual([
      [[id, 2]],
    ]);
    expect(await client.callServerApi(`/inApps/v1/subscriptions/${id}?status=9`)).toMatchObject({
      body: { errorCode: 4000031 },
    });
  });

  it('returns the Apple id of the app only in production', async () => {
    const { body } = await client.buy({ productId: 'coins', type: 'consumable' });
    const about = { environment: 'Production', bundleId: 'com.example.app', appAppleId: 1234567890, data: [] };
    expect((await client.callServerApi(`/inApps/v1/subscriptions/${body.id}`)).body).toEqual(about);
    const sandbox = await client.buy({ productId: 'coins', type: 'consumable', sandbox: true });
    expect(
      (await client.callServerApi(`/inApps/v1/subscriptions/${sandbox.body.id}`, sandboxHost)).body,
    ).not.toHaveProperty('appAppleId');
  });
});

describe('GET /inApps/v2/history/{id}', () => {
  let id: string;
  const history = async (query = ''): Promise<TestResponse> =>
    await client.callServerApi(`/inApps/v2/history/${id}${query}`);
  const ids = ({ body }: TestResponse): string[] =>
    body.signedTransactions.map((jws: string) => decodePayload(jws).transactionId as string);

  beforeAll(async () => {
    const reader = { applicationUsername: 'reader' };
    id = (await client.buy({ ...reader, autoRenew: true })).body.id;
    await client.advance('P3Y');
    await client.buy({ ...reader, productId: 'coins', type: 'consumable' });
    const { body } = await client.buy({ ...reader, productId: 'book', type: 'non consumable' });
    await client.act(body.id, 'refund');
  });

  it('returns each transaction once in pages of 20, the latest change at the end', async () => {
    const pages = [await history()];
    for (let last = pages[0]; last?.body.hasMore; last = pages.at(-1)) {
      pages.push(await history(`?revision=${encodeURIComponent(last.body.revision)}`));
    }
    expect(pages.map(({ body }) => body.signedTransactions.length)).toEqual([20, 19]);
    const all = pages.flatMap(ids);
    expect(new Set(all).size).toBe(39);
    expect(all[0]).toBe(id);
    expect(decodePayload(pages.at(-1)?.body.signedTransactions.at(-1))).toMatchObject({ productId: 'book' });
  });

  test.each([
    ['productId=coins&productId=book', ['coins', 'book']],
    ['productType=NON_CONSUMABLE', ['book']],
    ['revoked=true', ['book']],
    ['revoked=false&productType=NON_CONSUMABLE', []],
    ['inAppOwnershipType=FAMILY_SHARED', []],
    ['subscriptionGroupIdentifier=1', []],
    ['sort=DESCENDING&productId=book&productId=coins', ['book', 'coins']],
  ])('filters by %s', async (query, products) => {
    const { body } = await history(`?${query}`);
    const found: string[] = body.signedTransactions.map((jws: string) => decodePayload(jws).productId);
    expect([...new Set(found)]).toEqual(products);
  });

  it('includes the start date and excludes the end date', async () => {
    const [april, may] = [Date.parse('2027-04-30T10:00:00Z'), Date.parse('2027-05-31T10:00:00Z')];
    const { body } = await history(`?startDate=${april}&endDate=${may}`);
    expect(body.signedTransactions.map((jws: string) => decodePayload(jws).purchaseDate)).toEqual([april]);
  });

  test.each([
    ['revision=nonsense', 4000005],
    ['startDate=tomorrow', 4000015],
    ['endDate=x', 4000016],
    ['startDate=2&endDate=1', 4000013],
    ['sort=UP', 4000021],
    ['productType=toString', 4000022],
    ['inAppOwnershipType=MINE', 4000026],
    ['revoked=maybe', 4000030],
  ])('rejects %s', async (query, errorCode) => {
    expect(await history(`?${query}`)).toMatchObject({ status: 400, body: { errorCode } });
  });

  it('returns later transactions after the last page', async () => {
    const { body } = await history('?productType=CONSUMABLE');
    const purchase = await client.buy({ applicationUsername: 'reader', productId: 'coins', type: 'consumable' });
    const more = await history(`?productType=CONSUMABLE&revision=${body.revision}`);
    expect(ids(more)).toEqual([purchase.body.id]);
  });
});

const hosts = { production: 'buy.itunes.apple.com', sandbox: 'sandbox.itunes.apple.com' } as const;

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
    client.clock.set(startTime);
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
