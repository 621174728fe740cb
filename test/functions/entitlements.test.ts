import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Contract } from '../../lib/api/contract.ts';
import { getCatalogue, setCatalogue } from '../../lib/apps/catalogue-contract.ts';
import { getApp } from '../../lib/apps/contract.ts';
import { changeSettings, createApiKey, type IssuedApiKeys, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { giveCredits } from '../../lib/credits/contract.ts';
import { issueAccessToken } from '../../lib/customers/access-token-table.ts';
import {
  changeGrant,
  createEntitlementToken,
  createGrant,
  explainAccess,
  getCustomerEntitlements,
  getTokenKeys,
  listGrants,
  revokeGrant,
} from '../../lib/entitlements/contract.ts';
import { rotateTokenKeys } from '../../lib/entitlements/token-key.ts';
import { updateTokenKeys } from '../../lib/entitlements/token-key-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { creditAccountKey } from '../../lib/foundation/keys.ts';
import { dayMs, hourMs } from '../../lib/foundation/time.ts';
import { listRepresentativePurchases } from '../../lib/purchases/owned-purchase-table.ts';
import {
  buildBasicAuth,
  type CallOptions,
  callEndpoint,
  callWithPublicKey,
  callWithSecretKey,
} from '../../testing/call.ts';
import { createObservation } from '../../testing/given.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { findEvents } from './event-fixture.ts';
import { givenPaidPurchase, paidAt } from './purchase-fixture.ts';

const catalogue = {
  'store_a:monthly': { type: 'paid subscription', entitlements: ['premium'] },
  coins: { type: 'consumable' },
} as const;

const service = startBeforeAll(startTestService);
let keys: IssuedApiKeys;
beforeEach(async () => {
  keys = await service.createApp(['processor_a']);
  await saveCatalogue(getService(), keys.appName, catalogue);
});

interface EventRow {
  readonly context: { readonly eventType: string };
}

const params = { applicationUsername: 'ann' };
const call = async (contract: Contract, options: CallOptions = {}) =>
  await callWithSecretKey(contract, keys, { params, ...options });
const toIso = (date: number): string => `${new Date(date).toISOString().slice(0, 19)}.000Z`;

describe('POST /v3/customers/:applicationUsername/grants', () => {
  it('warns of an entitlement that no product of the catalogue gives', async () => {
    const grant = async (entitlement: string) =>
      (await call(createGrant, { body: { entitlement, reason: 'a test' } })).body;
    expect(await grant('premuim')).toMatchObject({ warning: 'No product of the catalogue gives this entitlement.' });
    expect(await grant('premium')).not.toHaveProperty('warning');
  });
});

describe('GET /v3/customers/:applicationUsername/entitlements', () => {
  it('returns what the purchases and grants of the customer give', async () => {
    await givenPaidPurchase(keys, 'ann');
    await call(createGrant, { body: { entitlement: 'beta', reason: 'tester' } });
    const { status, body } = await call(getCustomerEntitlements);
    expect(status).toBe(200);
    expect(body).toEqual({
      applicationUsername: 'ann',
      entitlements: {
        beta: {
          isActive: true,
          since: expect.any(String),
          until: null,
          willRenew: false,
          isSandbox: false,
          isInGracePeriod: false,
          source: { type: 'grant', grantId: expect.stringMatching(/^grant_/) },
        },
        premium: {
          isActive: true,
          since: toIso(paidAt),
          until: toIso(paidAt + 30 * dayMs),
          willRenew: expect.any(Boolean),
          isSandbox: false,
          isInGracePeriod: false,
          source: {
            type: 'purchase',
            purchaseId: 'store_a:1',
            platform: 'store_a',
            productId: 'store_a:monthly',
          },
        },
      },
      asOf: expect.any(String),
    });
  });

  it.each(['viewer', 'support'] as const)('accepts a %s key', async (level) => {
    const { key } = await createApiKey(getService(), keys.appName, { level, name: level, now: Date.now() });
    const { status } = await callEndpoint(getCustomerEntitlements, {
      params,
      headers: buildBasicAuth(keys.appName, key),
    });
    expect(status).toBe(200);
  });

  it('rejects the public key without a token, and with a token that is unknown or of an unpaid checkout', async () => {
    const unpaid = await issueAccessToken(
      getService(),
      keys.appName,
      { platform: 'processor_a', session: 'cs_unpaid', username: 'bob' },
      Date.now(),
    );
    for (const query of [undefined, { accessToken: 'ak_unknown' }, { accessToken: unpaid }]) {
      const response = await callWithPublicKey(getCustomerEntitlements, keys, { params, ...(query && { query }) });
      expect(response).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
    }
  });

  it('accepts the public key with the token of a checkout that the customer paid', async () => {
    await givenPurchase(
      keys.appName,
      'ann',
      createObservation({
        purchaseId: 'processor_a:sub_1',
        platform: 'processor_a',
        purchaseDate: paidAt,
        expirationDate: paidAt + 30 * dayMs,
      }),
    );
    const grant = { platform: 'processor_a', subscription: 'sub_1', username: 'ann' } as const;
    const accessToken = await issueAccessToken(getService(), keys.appName, grant, Date.now());
    const own = await callWithPublicKey(getCustomerEntitlements, keys, { params, query: { accessToken } });
    expect(own.status).toBe(200);
    const other = { applicationUsername: 'bob' };
    const foreign = await callWithPublicKey(getCustomerEntitlements, keys, { params: other, query: { accessToken } });
    expect(foreign.status).toBe(403);
  });
});

describe('grants', () => {
  const create = async (body: object) => await call(createGrant, { body: { reason: 'lost phone', ...body } });

  it('creates one grant for an idempotency key', async () => {
    const request = { entitlement: 'premium', idempotencyKey: 'ticket-1' };
    const [first, second] = [await create(request), await create(request)];
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toEqual(first.body);
    expect((await call(listGrants)).body.rows).toHaveLength(1);
    expect((await create({ ...request, entitlement: 'beta' })).status).toBe(409);
    const parallel = { entitlement: 'premium', idempotencyKey: 'ticket-2' };
    const answers = await Promise.all(Array.from({ length: 5 }, async () => await create(parallel)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.grantId)).size).toBe(1);
  });

  it('stores who made and changed a grant, and when', async () => {
    const { key, id } = await createApiKey(getService(), keys.appName, {
      level: 'support',
      name: 'alice',
      now: Date.now(),
    });
    const headers = buildBasicAuth(keys.appName, key);
    const until = toIso(Date.now() + dayMs);
    const { body: created } = await callEndpoint(createGrant, {
      params,
      headers,
      body: { entitlement: 'premium', reason: 'lost phone', until },
    });
    expect(created).toMatchObject({ until, createdBy: { id, name: 'alice' }, reason: 'lost phone', isActive: true });
    const { grantId } = created;
    const later = toIso(Date.now() + 2 * dayMs);
    const { body: changed } = await call(changeGrant, { params: { ...params, grantId }, body: { until: later } });
    expect(changed).toMatchObject({ until: later, changedBy: { name: 'main' } });
    const { body: revoked } = await call(revokeGrant, { params: { ...params, grantId } });
    expect(revoked).toMatchObject({ isActive: false, revokedBy: { name: 'main' } });
    expect((await call(getCustomerEntitlements)).body.entitlements.premium).toMatchObject({ isActive: false });
    expect((await findEvents(keys, 'ann')).map((event: EventRow) => event.context.eventType)).toEqual(
      expect.arrayContaining(['grant.created', 'grant.changed', 'grant.revoked']),
    );
  });

  it('keeps grants out of purchases and subscriptions', async () => {
    await create({ entitlement: 'premium' });
    expect(await listRepresentativePurchases(getService(), keys.appName, 'ann')).toEqual([]);
  });

  it.each([
    ['a date in the past', { entitlement: 'premium', until: '2020-01-01' }],
    ['a date after 200 years', { entitlement: 'premium', until: '2226-01-01' }],
    ['an invalid name', { entitlement: 'pre mium' }],
    ['an empty reason', { entitlement: 'premium', reason: ' ' }],
  ])('rejects a grant with %s', async (_case, body) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  });

  it('does not extend a grant that has ended, and does not find an unknown one', async () => {
    const { grantId } = (await create({ entitlement: 'premium' })).body;
    await call(revokeGrant, { params: { ...params, grantId } });
    const body = { until: toIso(Date.now() + dayMs) };
    expect((await call(changeGrant, { params: { ...params, grantId }, body })).status).toBe(409);
    expect((await call(changeGrant, { params: { ...params, grantId: 'grant_none' }, body })).status).toBe(404);
    expect((await call(revokeGrant, { params: { applicationUsername: 'bob', grantId } })).status).toBe(404);
  });
});

describe('POST /v3/customers/:applicationUsername/entitlements/token', () => {
  const sign = async (body: object = {}) => (await call(createEntitlementToken, { body })).body;
  const fetchKeys = async (): Promise<JSONWebKeySet> =>
    (await callEndpoint(getTokenKeys, { query: { appName: keys.appName } })).body;
  const verify = async (token: string, audience = keys.appName) =>
    await jwtVerify(token, createLocalJWKSet(await fetchKeys()), {
      algorithms: ['ES256'],
      audience,
      typ: 'entitlements+jwt',
    });

  it('signs the active entitlements, for the app and the customer', async () => {
    await givenPaidPurchase(keys, 'ann');
    const { token, expiresAt } = await sign({ nonce: 'n-1' });
    const { payload, protectedHeader } = await verify(token);
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'entitlements+jwt' });
    expect(payload).toMatchObject({
      sub: 'ann',
      aud: keys.appName,
      env: 'production',
      nonce: 'n-1',
      entitlements: { premium: { until: Math.floor((paidAt + 30 * dayMs) / 1_000) } },
    });
    expect(payload.iss).toMatch(/^https?:\/\//);
    expect((payload.exp ?? 0) * 1_000).toBe(Date.parse(expiresAt));
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60 * 60);
  });

  it('contains the balances of credits if the catalogue gives some, and reads none otherwise', async () => {
    const welcome = async () =>
      await call(giveCredits, { body: { credit: 'coins', amount: 40, idempotencyKey: 'a', reason: 'a welcome' } });
    await welcome();
    const { table } = getService();
    const { get } = table;
    const reads: string[] = [];
    table.get = async (key, ...rest) => {
      reads.push(key.sk);
      return await get(key, ...rest);
    };
    expect((await verify((await sign()).token)).payload).not.toHaveProperty('credits');
    table.get = get;
    expect(reads).not.toContain(creditAccountKey(keys.appName, 'ann', 'P').sk);
    keys = await service.createApp(['processor_a']);
    await saveCatalogue(getService(), keys.appName, { coins: { type: 'consumable', credits: { coins: 40 } } });
    await welcome();
    expect((await verify((await sign()).token)).payload.credits).toEqual({ coins: 40 });
  });

  it('publishes the next key before it signs, and the former key until its overlap ends', async () => {
    const { token } = await sign();
    const { keys: published } = await fetchKeys();
    expect(published).toHaveLength(2);
    const rotate = async (overlapMs: number) =>
      await updateTokenKeys(getService(), keys.appName, (set) => rotateTokenKeys(set, { overlapMs, now: Date.now() }));
    await rotate(hourMs);
    await verify(token);
    const { token: next } = await sign();
    expect(decodeProtectedHeader(next).kid).toBe(published[1]?.kid);
    await rotate(0);
    await verify(token);
    await expect(verify(next)).rejects.toThrow('no applicable key');
  });

  it('stores the private keys encrypted', async () => {
    await sign();
    const item = await getService().table.get({ pk: `${keys.appName}#M`, sk: 'M' });
    expect(item?.privateKeys).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(JSON.stringify(item)).not.toContain('"d"');
  });

  it('signs a token with the validity of the app', async () => {
    await changeSettings(getService(), keys.appName, { tokenMinutes: 5 });
    await expect(changeSettings(getService(), keys.appName, { tokenMinutes: 4 })).rejects.toThrow('5 to 1440 minutes');
    const { payload } = await verify((await sign()).token);
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(5 * 60);
  });

  it('returns the public keys to browsers, without an API key', async () => {
    await sign();
    const response = await callEndpoint(getTokenKeys, {});
    expect(response.headers).toMatchObject({
      'Access-Control-Allow-Origin': '*',
      'Cache-Control': 'public, max-age=300',
    });
    expect(response.body.keys.length).toBeGreaterThan(1);
    expect(JSON.stringify(response.body)).not.toContain('"d"');
  });

  it('rejects the name of an app that is longer than a key of the table', async () => {
    const { status, body } = await callEndpoint(getTokenKeys, { query: { appName: 'x'.repeat(4000) } });
    expect([status, body.code]).toEqual([400, 'InvalidPayload']);
  });
});

describe('GET /v3/customers/:applicationUsername/why', () => {
  const explain = async (query: Record<string, string> = { entitlement: 'premium' }) =>
    (await call(explainAccess, { query })).body;

  it('explains a running purchase and what happens next', async () => {
    await givenPaidPurchase(keys, 'ann');
    const explanation = await explain();
    expect(explanation).toMatchObject({ entitlement: 'premium', isActive: true });
    expect(explanation.because).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ source: 'store_a:1', what: 'The App Store sold monthly.', effect: 'none' }),
        expect.objectContaining({
          at: toIso(paidAt + 30 * dayMs),
          what: 'Access is paid until then.',
          effect: 'gives',
        }),
        expect.objectContaining({ what: 'The customer sent the receipt.' }),
      ]),
    );
    expect(explanation.next).toMatchObject({ at: toIso(paidAt + 30 * dayMs) });
  });

  it('explains that another customer owns the purchase', async () => {
    await changeSettings(getService(), keys.appName, { strategy: 'first' });
    await givenPaidPurchase(keys, 'bob');
    await givenPaidPurchase(keys, 'ann');
    const { isActive, because } = await explain();
    const owned = because.filter(({ what }: { what: string }) => what.startsWith('Another customer owns the purchase'));
    if (isActive) expect(owned).toEqual([]);
    else expect(owned).toHaveLength(1);
  });

  it('explains a product, a grant, and that there is nothing', async () => {
    expect(await explain({ productId: 'monthly' })).toMatchObject({
      isActive: false,
      because: [{ at: null, source: 'customer', effect: 'prevents' }],
      next: null,
    });
    await call(createGrant, { body: { entitlement: 'premium', reason: 'lost phone' } });
    expect(await explain()).toMatchObject({
      isActive: true,
      because: [
        { what: 'Granted with the key main: lost phone' },
        { what: 'The grant does not end.', effect: 'gives' },
      ],
      next: null,
    });
  });

  it('says that no product gives the entitlement', async () => {
    const { because } = await explain({ entitlement: 'premum' });
    expect(because).toContainEqual(
      expect.objectContaining({ source: 'catalogue', what: 'No product of the catalogue gives premum.' }),
    );
  });

  it.each([[{}], [{ entitlement: 'premium', productId: 'monthly' }]])('rejects the query %j', async (query) => {
    expect((await call(explainAccess, { query })).status).toBe(400);
  });
});

describe('PUT /v3/catalogue', () => {
  const plans = { 'store_a:monthly': { type: 'paid subscription', entitlements: ['premium', 'offline'] } };

  it('replaces the catalogue of GET /v3/catalogue', async () => {
    expect((await call(getCatalogue)).body).toEqual(catalogue);
    expect((await call(setCatalogue, { body: plans })).body).toEqual({ ok: true, products: 1 });
    expect((await call(getCatalogue)).body).toEqual(plans);
  });

  it('does not overwrite a catalogue that was changed since it was read', async () => {
    const { headers } = await call(getCatalogue);
    const first = await call(setCatalogue, { body: plans, headers: { 'if-match': String(headers.ETag) } });
    expect(first.status).toBe(200);
    const second = await call(setCatalogue, { body: catalogue, headers: { 'if-match': String(headers.ETag) } });
    expect(second).toMatchObject({ status: 412, body: { code: 'Conflict' } });
    expect((await call(getCatalogue)).body).toEqual(plans);
    const current = { 'if-match': `W/${first.headers.ETag}` };
    expect((await call(setCatalogue, { body: catalogue, headers: current })).status).toBe(200);
  });

  it('previews who gains and loses what, and changes nothing', async () => {
    await givenPaidPurchase(keys, 'ann');
    const change = { 'store_a:monthly': { type: 'paid subscription', entitlements: ['offline'] } };
    const { body } = await call(setCatalogue, { body: change, query: { dryRun: 'true' } });
    expect(body.preview).toEqual({
      entitlements: { offline: { gains: 1, loses: 0 }, premium: { gains: 0, loses: 1 } },
      customers: [{ applicationUsername: 'ann', gains: ['offline'], loses: ['premium'] }],
      checkedPurchases: 1,
      checkedCustomers: 1,
      isComplete: true,
    });
    expect((await call(getCatalogue)).body).toEqual(catalogue);
  });

  it.each([
    ['an unknown field', { gold: { type: 'paid subscription', entitlement: ['premium'] } }],
    ['an invalid name', { gold: { type: 'paid subscription', entitlements: ['pre mium'] } }],
    ['a repeated name', { gold: { type: 'paid subscription', entitlements: ['premium', 'premium'] } }],
  ])('rejects %s', async (_case, body) => {
    expect(await call(setCatalogue, { body })).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  });

  it('shows the settings of entitlements in GET /v3/app', async () => {
    expect((await call(getApp)).body).toMatchObject({ sandboxEntitlements: 'all', tokenMinutes: 60, catalogue });
  });
});
