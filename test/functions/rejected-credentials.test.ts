import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import { hashApiKey } from '../../lib/apps/app.ts';
import { countRejection, rejectionBucketSizes, rejectionReportSize } from '../../lib/apps/request-limiter.ts';
import { createClientToken, getPrices } from '../../lib/checkout/contract.ts';
import { getCustomerPurchases } from '../../lib/customers/contract.ts';
import { listEvents } from '../../lib/events/contract.ts';
import { listEvents as listStoredEvents } from '../../lib/events/event-list-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { receiveNotification } from '../../lib/store-notifications/receive-notification.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import {
  buildBasicAuth,
  type CallOptions,
  type CallResult,
  callEndpoint,
  callWithSecretKey,
} from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { buildProxyEvent } from '../../testing/proxy-event.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);
const keys = startBeforeAll(async () => await service.createApp(['store_a']));
beforeEach(() => {
  // Buckets fill with time.
  service.freezeClock();
  jest.spyOn(console, 'warn').mockImplementation(() => {});
});

let names = 0;

/** Creates an address that no other test of the run uses. */
const createAddress = () => `10.${process.pid % 250}.${Math.trunc(names / 250)}.${++names % 250}`;

/** Creates credentials that no other test uses: each key and each app has its own bucket. */
const createWrongKey = () => `pub_${createUniqueName('key')}`;
const buildWrongAuth = () => buildBasicAuth(createUniqueName(), createWrongKey());

/** Rejections of one address after which a container blocks it. */
const blockingRejections = rejectionBucketSizes.address.capacity + rejectionReportSize;

/** Calls with a wrong key of an existing app. */
const callWithWrongKey = async (contract: Contract, options: CallOptions): Promise<CallResult> =>
  await callEndpoint(contract, { headers: buildBasicAuth(keys.appName, createWrongKey()), ...options });

/** Calls with wrong credentials until the container blocks the address. */
async function blockByCalls(options: (number: number) => CallOptions): Promise<void> {
  const headers = buildWrongAuth();
  for (let number = 0; number < blockingRejections; number++)
    await callEndpoint(getCustomerPurchases, { headers, ...options(number) });
}

/** Counts rejections of an address without calls until the container blocks it. */
async function givenBlockedAddress(): Promise<string> {
  const address = createAddress();
  for (let number = 0; number < blockingRejections; number++) await countRejection(getService(), { address });
  return address;
}

const validateBody = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-appstore', id: '1' } };

describe('limitRejection', () => {
  it('responds with 429 and Retry-After in the default format after too many rejections of one address', async () => {
    const sourceIp = createAddress();
    expect(await callWithWrongKey(getCustomerPurchases, { sourceIp })).toMatchObject({ status: 401 });
    await blockByCalls(() => ({ sourceIp }));
    const { status, headers, body } = await callWithWrongKey(getCustomerPurchases, { sourceIp });
    expect([status, body]).toEqual([
      429,
      {
        ok: false,
        route: '/v3/customers/:applicationUsername/purchases',
        status: 429,
        code: 'Forbidden',
        message: 'Too many requests with invalid credentials. Try again later.',
      },
    ]);
    expect(Number(headers['Retry-After'])).toBeGreaterThan(0);
    expect(Number(headers['Retry-After'])).toBeLessThanOrEqual(rejectionReportSize);
    expect(String(headers['Retry-After'])).toMatch(/^\d+$/);
    // Only the operator's server has the secret key, so the endpoint is closed to browsers.
    expect(headers).not.toHaveProperty('Access-Control-Expose-Headers');
  });

  it('responds in the error format of each endpoint', async () => {
    const sourceIp = await givenBlockedAddress();
    const message = 'Too many requests with invalid credentials. Try again later.';
    const expected: readonly (readonly [Contract, number, object])[] = [
      [
        validateReceipt,
        200,
        {
          ok: false,
          route: '/v1/validate',
          status: 429,
          code: 7691003,
          message,
          data: { latest_receipt: true, code: 7691003, error: { message } },
        },
      ],
      [getPrices, 429, { ok: false, status: 429, code: 6778003, message }],
      [createClientToken, 200, { success: false, message }],
    ];
    for (const [contract, status, body] of expected) {
      const result = await callWithWrongKey(contract, { sourceIp, body: validateBody });
      expect([contract.id, result.status, result.body]).toEqual([contract.id, status, body]);
      expect(Number(result.headers['Retry-After'])).toBeGreaterThan(0);
      expect(result.headers).toMatchObject({ 'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id' });
    }
  });

  it('limits credentials that are missing, malformed or insufficient', async () => {
    const sourceIp = createAddress();
    await blockByCalls(() => ({ sourceIp, headers: {} }));
    const refusedHeaders = [{}, { authorization: 'Basic !' }, buildBasicAuth(keys.appName, keys.publicKey)];
    for (const headers of refusedHeaders)
      expect(await callEndpoint(getCustomerPurchases, { headers, sourceIp })).toMatchObject({ status: 429 });
  });

  it('counts the address of the connection and ignores X-Forwarded-For', async () => {
    const sourceIp = createAddress();
    const headers = buildWrongAuth();
    await blockByCalls((number) => ({
      sourceIp,
      headers: { ...headers, 'X-Forwarded-For': `198.51.100.${number % 250}` },
    }));
    const forgedHeaders = { ...buildWrongAuth(), 'X-Forwarded-For': '198.51.100.251' };
    expect(await callEndpoint(getCustomerPurchases, { sourceIp, headers: forgedHeaders })).toMatchObject({
      status: 429,
    });
    // An attacker cannot block another client's address.
    const victim = { sourceIp: '198.51.100.1' };
    expect(await callWithWrongKey(getCustomerPurchases, victim)).toMatchObject({ status: 401 });
  });

  it('counts the /64 network of an IPv6 address', async () => {
    const network = `2001:db8:${process.pid.toString(16)}:1`;
    await blockByCalls((number) => ({ sourceIp: `${network}::${number.toString(16)}` }));
    const call = async (sourceIp: string) => (await callWithWrongKey(getCustomerPurchases, { sourceIp })).status;
    expect(await call(`${network}:ffff:ffff:ffff:ffff`)).toBe(429);
    expect(await call(`2001:db8:${process.pid.toString(16)}:2::1`)).toBe(401);
  });

  it('records no event for rejected credentials', async () => {
    const sourceIp = createAddress();
    const { appName } = await service.createApp([]);
    for (let number = 0; number < 50; number++)
      await callEndpoint(validateReceipt, {
        headers: buildBasicAuth(appName, createWrongKey()),
        body: validateBody,
        sourceIp,
      });
    expect(await listStoredEvents(getService(), appName, { limit: 10, skip: 0 })).toEqual([]);
  });

  it('records an event for a valid key of an insufficient level, but none while the key is blocked', async () => {
    const { appName, publicKey } = await service.createApp([]);
    const headers = buildBasicAuth(appName, publicKey);
    const call = async () => (await callEndpoint(getCustomerPurchases, { headers, sourceIp: createAddress() })).status;
    const readEvents = async () => await listStoredEvents(getService(), appName, { limit: 10, skip: 0 });
    expect(await call()).toBe(403);
    const [event, ...others] = await readEvents();
    expect(event).toMatchObject({
      type: getCustomerPurchases.eventType,
      key: { name: 'main', level: 'public' },
      outcome: { status: 403, ok: false, message: 'The secret key is required.' },
    });
    expect(others).toEqual([]);
    const keyDigest = hashApiKey(publicKey);
    for (let number = 0; number < rejectionBucketSizes.key.capacity + rejectionReportSize; number++)
      await countRejection(getService(), { appName, keyDigest });
    expect(await call()).toBe(429);
    expect(await readEvents()).toEqual([event]);
  });
});

describe('createHandler with a blocked address', () => {
  it('accepts validations and reads with valid credentials, and records them', async () => {
    const sourceIp = await givenBlockedAddress();
    expect(await callWithWrongKey(getCustomerPurchases, { sourceIp })).toMatchObject({ status: 429 });
    const { validate } = await service.callControl('/purchases', {
      platform: 'store_a',
      productId: 'premium',
      type: 'paid subscription',
      applicationUsername: 'ann',
    });
    const headers = buildBasicAuth(keys.appName, keys.publicKey);
    const validation = await callEndpoint(validateReceipt, { headers, body: validate, sourceIp });
    expect(validation.body).toMatchObject({ ok: true });
    expect(validation.headers).not.toHaveProperty('Retry-After');
    const params = { applicationUsername: 'ann' };
    const { body } = await callWithSecretKey(getCustomerPurchases, keys, { params, sourceIp });
    expect(Object.keys(body.purchases)).toEqual(['store_a:premium']);
    const events = await callWithSecretKey(listEvents, keys, { sourceIp });
    expect(events.body.rows).toHaveLength(2);
  });

  it('accepts valid credentials of an app that the container has not read before', async () => {
    const sourceIp = await givenBlockedAddress();
    const otherKeys = await service.createApp([]);
    const params = { applicationUsername: 'ann' };
    expect(await callWithSecretKey(getCustomerPurchases, otherKeys, { params, sourceIp })).toMatchObject({
      status: 200,
    });
  });
});

describe('receiveNotification', () => {
  it('does not count rejected credentials', async () => {
    const sourceIp = createAddress();
    const apiKey = createWrongKey();
    const post = async () =>
      await receiveNotification(
        getService(),
        buildProxyEvent({
          httpMethod: 'POST',
          path: '/v1/webhook/apple',
          queryStringParameters: { appName: keys.appName, apiKey },
          body: '{"signedPayload":"a.b.c"}',
          sourceIp,
        }),
      );
    for (let number = 0; number < blockingRejections; number++) await post();
    expect(await post()).toMatchObject({ statusCode: 401 });
    expect(await callWithWrongKey(getCustomerPurchases, { sourceIp })).toMatchObject({ status: 401 });
  });
});
