import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import {
  decodePayload,
  type EmulatorClient,
  signDeveloperToken,
  startEmulatorClient,
  type TestResponse,
} from './emulator-client.ts';

const productionHost = 'api.storekit.apple.com';
const sandboxHost = 'api.storekit-sandbox.apple.com';

let user: EmulatorClient;
beforeAll(async () => {
  user = await startEmulatorClient();
});
afterAll(() => user.close());

describe('a call without a good token of the developer', () => {
  const hour = 3600;
  const seconds = (): number => Math.floor(user.clock.now() / 1000);
  const strange = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });

  test.each<[string, () => string]>([
    ['no token', () => ''],
    ['no JWT', () => 'Bearer abc'],
    ['another key', () => `Bearer ${signDeveloperToken(user, { privateKey: strange.toString() })}`],
    ['another key id', () => `Bearer ${signDeveloperToken(user, { header: { kid: 'X' } })}`],
    ['no signature', () => `Bearer ${signDeveloperToken(user, { header: { alg: 'none' } })}`],
    ['another issuer', () => `Bearer ${signDeveloperToken(user, { claims: { iss: 'someone' } })}`],
    ['another audience', () => `Bearer ${signDeveloperToken(user, { claims: { aud: 'elsewhere' } })}`],
    ['another application', () => `Bearer ${signDeveloperToken(user, { claims: { bid: 'com.example.other' } })}`],
    ['an old token', () => `Bearer ${signDeveloperToken(user, { claims: { iat: seconds() - hour, exp: seconds() } })}`],
    ['a token for long', () => `Bearer ${signDeveloperToken(user, { claims: { exp: seconds() + hour + 1 } })}`],
  ])('%s: is told 401 in plain text', async (_name, authorization) => {
    const { status, body, headers } = await user.call(`/${productionHost}/inApps/v1/transactions/1`, {
      headers: { authorization: authorization() },
    });
    expect({ status, body }).toEqual({ status: 401, body: 'Unauthenticated\n' });
    expect(headers.get('content-type')).toContain('text/plain');
  });
});

describe('a call that finds nothing', () => {
  test.each([
    ['/inApps/v1/transactions/none', 400, { errorCode: 4000006, errorMessage: 'Invalid transaction id.' }],
    ['/inApps/v1/transactions/123', 404, { errorCode: 4040010, errorMessage: 'Transaction id not found.' }],
    ['/inApps/v1/subscriptions/123', 404, { errorCode: 4040010 }],
    ['/inApps/v2/history/123', 404, { errorCode: 4040010 }],
    ['/inApps/v2/refund/lookup/123', 404, { errorCode: 4040010 }],
    ['/inApps/v1/transactions/appTransactions/123', 404, { errorCode: 4040010 }],
  ])('%s: %s', async (path, status, body) => {
    expect(await user.callServerApi(path)).toMatchObject({ status, body });
  });

  it('may have asked the wrong environment', async () => {
    const production = (await user.buy()).body.id;
    const sandbox = (await user.buy({ sandbox: true })).body.id;
    expect(await user.callServerApi(`/inApps/v1/transactions/${production}`, sandboxHost)).toMatchObject({
      status: 404,
    });
    expect(await user.callServerApi(`/inApps/v1/transactions/${sandbox}`, productionHost)).toMatchObject({
      status: 404,
    });
    const found = await user.callServerApi(`/inApps/v1/transactions/${sandbox}`, sandboxHost);
    expect(decodePayload(found.body.signedTransactionInfo).environment).toBe('Sandbox');
  });
});

describe('statuses', () => {
  it('are those of everything that the account subscribed to, by group', async () => {
    const { id } = (await user.buy({ applicationUsername: 'alice' })).body;
    await user.act(id, 'expire');
    const other = (await user.buy({ applicationUsername: 'alice', productId: 'sports' })).body.id;
    const statuses = ({ body }: TestResponse): unknown =>
      body.data.map(({ lastTransactions }: { lastTransactions: { originalTransactionId: string; status: number }[] }) =>
        lastTransactions.map(({ originalTransactionId, status }) => [originalTransactionId, status]),
      );
    expect(statuses(await user.callServerApi(`/inApps/v1/subscriptions/${other}`))).toEqual([[[id, 2]], [[other, 1]]]);
    expect(statuses(await user.callServerApi(`/inApps/v1/subscriptions/${other}?status=2&status=3`))).toEqual([
      [[id, 2]],
    ]);
    expect(await user.callServerApi(`/inApps/v1/subscriptions/${id}?status=9`)).toMatchObject({
      body: { errorCode: 4000031 },
    });
  });

  it('name the application, by number in production only', async () => {
    const { body } = await user.buy({ productId: 'coins', type: 'consumable' });
    const about = { environment: 'Production', bundleId: 'com.example.app', appAppleId: 1234567890, data: [] };
    expect((await user.callServerApi(`/inApps/v1/subscriptions/${body.id}`)).body).toEqual(about);
    const sandbox = await user.buy({ productId: 'coins', type: 'consumable', sandbox: true });
    expect(
      (await user.callServerApi(`/inApps/v1/subscriptions/${sandbox.body.id}`, sandboxHost)).body,
    ).not.toHaveProperty('appAppleId');
  });
});

describe('a history', () => {
  let id: string;
  const history = async (query = ''): Promise<TestResponse> =>
    await user.callServerApi(`/inApps/v2/history/${id}${query}`);
  const ids = ({ body }: TestResponse): string[] =>
    body.signedTransactions.map((jws: string) => decodePayload(jws).transactionId as string);

  beforeAll(async () => {
    const reader = { applicationUsername: 'reader' };
    id = (await user.buy({ ...reader, autoRenew: true })).body.id;
    await user.advance('P3Y');
    await user.buy({ ...reader, productId: 'coins', type: 'consumable' });
    const { body } = await user.buy({ ...reader, productId: 'book', type: 'non consumable' });
    await user.act(body.id, 'refund');
  });

  it('comes in pages of 20, each transaction once, the last touched at the end', async () => {
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
  ])('filtered by %s holds only that', async (query, products) => {
    const { body } = await history(`?${query}`);
    const found: string[] = body.signedTransactions.map((jws: string) => decodePayload(jws).productId);
    expect([...new Set(found)]).toEqual(products);
  });

  it('between two dates has what was bought from the first on and before the second', async () => {
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
  ])('refuses %s', async (query, errorCode) => {
    expect(await history(`?${query}`)).toMatchObject({ status: 400, body: { errorCode } });
  });

  it('continues after its last page with what happened since', async () => {
    const { body } = await history('?productType=CONSUMABLE');
    const bought = await user.buy({ applicationUsername: 'reader', productId: 'coins', type: 'consumable' });
    const more = await history(`?productType=CONSUMABLE&revision=${body.revision}`);
    expect(ids(more)).toEqual([bought.body.id]);
  });
});
