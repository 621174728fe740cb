import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  createTokenKeys,
  rotateTokenKeys,
  signEntitlementToken,
  type TokenKeySet,
  toPublicJwk,
} from '../../lib/entitlements/token-key.ts';
import { minuteMs, secondMs } from '../../lib/foundation/time.ts';
import type { LocalService } from '../../local/start-local.ts';
import { type ApplicationServer, startApplicationServer } from '../../testing/application-server.ts';
import { callLocalControl, callLocalService, type Json, letSettingsTakeEffect } from '../../testing/call-local.ts';
import { spawnSuccessfully } from '../../testing/command-line.ts';
import { readSnippet } from '../../testing/documents.ts';
import { startLocalService } from '../../testing/local-service.ts';
import {
  findPythonProblem,
  installServerPackage,
  type ServerClient,
  startServerClient,
} from '../../testing/server-clients.ts';
import { waitFor } from '../../testing/wait-for.ts';

const languages = ['esm', 'cjs', 'python'] as const;
type Language = (typeof languages)[number];
const pythonProblem = findPythonProblem();
const catalogue = {
  premium: { type: 'paid subscription', entitlements: ['premium'], credits: { coins: 100 }, expires: 'period' },
};

let folder: string;
let service: LocalService;
let recorder: ApplicationServer;
let secret: string;
const clients = new Map<Language, ServerClient>();

const getClient = (language: Language): ServerClient => {
  const client = clients.get(language);
  if (!client) throw new Error(`${language} has no client.`);
  return client;
};

/** Calls a function that must succeed, and returns its result. */
async function call<T = Json>(language: Language, name: string, ...args: readonly unknown[]): Promise<T> {
  const outcome = await getClient(language).call(name, ...args);
  if (outcome.message !== undefined) throw new Error(JSON.stringify(outcome));
  return outcome.result;
}

const connect = async (language: Language, changes: object = {}): Promise<unknown> => {
  const { baseUrl: url, appName, secretKey } = service;
  // A busy machine takes longer than the default.
  const timeLimit = language === 'python' ? { timeoutSeconds: 60 } : { timeoutMs: 60_000 };
  return await call(language, 'create', { url, appName, secretKey, cacheSeconds: 0, ...timeLimit, ...changes });
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-server-'));
  installServerPackage(folder);
  recorder = await startApplicationServer();
  service = await startLocalService();
  const set = ['app', 'set-webhook', service.appName, '--url', recorder.url, '--new-secret'];
  secret = /whsec_\S+/.exec(await spawnSuccessfully(service.environment, set))?.[0] ?? '';
  writeFileSync(join(folder, 'products.json'), JSON.stringify(catalogue));
  const setCatalogue = ['app', 'set-catalogue', service.appName, join(folder, 'products.json')];
  await spawnSuccessfully(service.environment, setCatalogue);
  await letSettingsTakeEffect(service);
  for (const language of languages) {
    if (language === 'python' && pythonProblem !== undefined) continue;
    clients.set(language, startServerClient(language, folder));
    await connect(language);
  }
});
afterAll(async () => {
  for (const client of clients.values()) client.stop();
  await service?.close();
  await recorder?.close();
  rmSync(folder, { recursive: true, force: true });
});

const describeLanguages = (title: string, tests: (language: Language) => void): void => {
  for (const language of languages) {
    if (language === 'python' && pythonProblem !== undefined)
      describe.skip(`${title}: ${pythonProblem}`, () => tests(language));
    else describe(`${title}: ${language}`, () => tests(language));
  }
};

/** Buys a subscription in the emulated store. Returns the request that the app sends. */
async function buy(applicationUsername: string): Promise<Json> {
  const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername };
  return (await callLocalControl(service, '/purchases', order)).validate;
}

describe('types of @claimcheck/server', () => {
  const compile = (files: Readonly<Record<string, string>>, extraOptions: readonly string[] = []) => {
    for (const [file, code] of Object.entries(files)) writeFileSync(join(folder, file), code);
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
    const args = [...options, ...extraOptions, ...Object.keys(files)];
    return spawnSync(resolve('node_modules/.bin/tsc'), args, { cwd: folder, encoding: 'utf8' });
  };

  it('match the package as an ES module and as CommonJS', () => {
    const code = `import { Claimcheck, ClaimcheckError, verifyToken, verifyWebhook, type Entitlement } from '@claimcheck/server';
      // The type of \`process.env\`.
      declare const variables: Readonly<Record<string, string | undefined>>;
      const { API_URL: url, APP_NAME: appName, SECRET_KEY: secretKey, WEBHOOK_SECRET: secret } = variables;
      const claimcheck = new Claimcheck({ url, appName, secretKey });
      export async function use(request: Request): Promise<Entitlement | undefined> {
        const event = await verifyWebhook(await request.text(), request.headers, secret);
        await verifyWebhook('', {}, ['a', 'b']);
        if (event.type === 'purchases.updated') claimcheck.invalidate(event.applicationUsername);
        // @ts-expect-error: the name of a member
        event.applicationUser;
        const transaction = { type: 'android-store', purchaseToken: 'token' } as const;
        const response = await claimcheck.validate({ id: 'a', type: 'consumable', transaction });
        if (!response.ok) console.log(response.code);
        // @ts-expect-error: the evidence of Google Play is a purchase token
        await claimcheck.validate({ id: 'a', type: 'consumable', transaction: { type: 'android-store' } });
        // @ts-expect-error: an idempotency key is required
        await claimcheck.credits.spend('alice', { credit: 'coins', amount: 1 });
        const token = await verifyToken('', { url, appName });
        if (token.hasEntitlement('premium')) throw new ClaimcheckError('InvalidToken', token.username);
        return (await claimcheck.entitlements('alice')).entitlements.premium;
      }`;
    expect(compile({ 'index.mts': code, 'index.cts': code })).toMatchObject({ stdout: '', status: 0 });
  });

  it('match the receivers of the guide', () => {
    const readReceiver = (name: string): string =>
      readSnippet('docs/guides/verify-webhooks.md', name)
        .replace('{ verifyWebhook }', '{ verifyWebhook, type WebhookEvent }')
        .replace('purchases })', "purchases }: Extract<WebhookEvent, { type: 'purchases.updated' }>)")
        .replace('POST(request)', 'POST(request: Request)');
    const receivers = { 'node.mts': readReceiver('node'), 'next.mts': readReceiver('next') };
    const typesOfNode = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')];
    expect(compile(receivers, typesOfNode)).toMatchObject({ stdout: '', status: 0 });
  });
});

describeLanguages('a server', (language) => {
  const username = `zoë/${language}`;

  it('validates a purchase, and reads its entitlements', async () => {
    expect(await call(language, 'hasEntitlement', username, 'premium')).toBe(false);
    expect(await call(language, 'validate', await buy(username))).toMatchObject({ ok: true });
    expect(await call(language, 'hasEntitlement', username, 'premium')).toBe(true);
    expect(await call(language, 'hasEntitlement', username, 'constructor')).toBe(false);
    const { entitlements } = await call(language, 'entitlements', username);
    expect(entitlements.premium).toMatchObject({ isActive: true, source: { type: 'purchase' } });
  });

  it('receives a proof that a purchase is invalid as a result', async () => {
    const transaction = { type: 'store_a-signed', id: 'premium', jwsRepresentation: 'e30.e30.e30' };
    const response = await call(language, 'validate', { id: 'premium', type: 'paid subscription', transaction });
    expect(response).toMatchObject({ ok: false, code: 6778001 });
  });

  it('spends credits once for a key, and holds them', async () => {
    const request = { credit: 'coins', amount: 30, idempotencyKey: 'order-1' };
    const spent = await call(language, 'spend', username, request);
    expect(spent).toMatchObject({ type: 'spent', balance: 70 });
    expect(await call(language, 'spend', username, request)).toEqual(spent);
    const refused = { ...request, amount: 71, idempotencyKey: 'order-2' };
    expect(await getClient(language).call('spend', username, refused)).toMatchObject({
      isClaimcheckError: true,
      code: 'Conflict',
      status: 409,
      balance: 70,
      isTemporary: false,
    });
    const { holdId } = await call(language, 'hold', username, { ...request, amount: 20, idempotencyKey: 'order-3' });
    expect(await call(language, 'capture', username, holdId, 5)).toMatchObject({ type: 'captured', balance: 65 });
    const other = await call(language, 'hold', username, { ...request, amount: 60, idempotencyKey: 'order-4' });
    expect(other).toMatchObject({ type: 'held', balance: 5 });
    expect(await call(language, 'release', username, other.holdId)).toMatchObject({ type: 'released', balance: 65 });
    expect((await call(language, 'getCredits', username)).credits.coins).toMatchObject({ balance: 65, spent: 35 });
  });

  it('states what to do about a wrong key and a name that no path can contain', async () => {
    await connect(language, { secretKey: 'wrong' });
    const forbidden = await getClient(language).call('entitlements', username);
    expect(forbidden).toMatchObject({ code: 'Forbidden', status: 401, isTemporary: false });
    expect(forbidden.fix).toContain('the key');
    await connect(language);
    for (const name of ['', '.', '..', null])
      expect(await getClient(language).call('hasEntitlement', name, 'premium')).toMatchObject({
        code: 'InvalidPayload',
      });
  });

  it('states what to set if an option is missing or wrong', async () => {
    const { baseUrl: url, appName, secretKey } = service;
    const client = getClient(language);
    const create = async (changes: object) => await client.call('create', { url, appName, secretKey, ...changes });
    const headers = { 'webhook-timestamp': String(Math.floor(Date.now() / secondMs)) };
    const outcomes = {
      ' is missing.': [
        await create({ url: null }),
        await create({ url: '' }),
        await create({ appName: null }),
        await create({ secretKey: '' }),
        await client.call('verifyToken', '', { url: '', appName }),
        await client.call('verifyToken', '', { url, appName: null }),
      ],
      'url must start with https:// or http://': [
        await create({ url: 'api.example.com' }),
        await create({ url: 'https://' }),
        await create({ url: 'localhost:4000' }),
      ],
      'whsec_…': [
        await client.call('verifyWebhook', '{}', headers, ''),
        await client.call('verifyWebhook', '{}', headers, null),
        await client.call('verifyWebhook', '{}', headers, 'whsec_'),
      ],
    };
    for (const [message, errors] of Object.entries(outcomes))
      for (const error of errors)
        expect(error).toMatchObject({
          code: 'InvalidOptions',
          message: expect.stringContaining(message),
          isTemporary: false,
          fix: expect.stringContaining('environment variable'),
        });
  });

  it('verifies a webhook of the service, also with two secrets and two signatures', async () => {
    const find = () => recorder.requests.find((request) => JSON.parse(request.body).applicationUsername === username);
    const { body = '', headers = {} } = (await waitFor('a webhook', find)) ?? {};
    const signed = Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('webhook-')));
    const event = await call(language, 'verifyWebhook', body, signed, secret);
    expect(event).toMatchObject({ type: 'purchases.updated', applicationUsername: username });
    const other = `whsec_${Buffer.from('another secret').toString('base64')}`;
    await call(language, 'verifyWebhook', body, signed, [other, secret]);
    const both = {
      ...signed,
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} ${signed['webhook-signature']}`,
    };
    await call(language, 'verifyWebhook', body, both, secret);
    const sign = (date: Date) => ({
      'Webhook-Id': 'msg_1',
      'Webhook-Timestamp': String(Math.floor(date.getTime() / secondMs)),
      'Webhook-Signature': new Webhook(secret).sign('msg_1', date, body),
    });
    const lower = (named: object) =>
      Object.fromEntries(Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]));
    await call(language, 'verifyWebhook', body, lower(sign(new Date())), secret);
    for (const [text, named, key] of [
      [body.replace('premium', 'PREMIUM'), signed, secret],
      [body, signed, other],
      [body, {}, secret],
      [body, { ...signed, 'webhook-id': 'msg_2' }, secret],
      [body, { ...signed, 'webhook-signature': 'v1,' }, secret],
      [body, { ...signed, 'webhook-timestamp': '9'.repeat(400) }, secret],
      [body, lower(sign(new Date(Date.now() - 10 * minuteMs))), secret],
      [body, lower(sign(new Date(Date.now() + 10 * minuteMs))), secret],
      [JSON.parse(body), signed, secret],
    ])
      expect(await getClient(language).call('verifyWebhook', text, named, key)).toMatchObject({
        code: 'InvalidWebhook',
      });
  });

  it('verifies a token of the service', async () => {
    const path = `/v3/customers/${encodeURIComponent(username)}/entitlements/token`;
    const { body } = await callLocalService(service, path, { nonce: 'n-1' });
    const options = { url: `${service.baseUrl}/`, appName: service.appName };
    expect(await call(language, 'verifyToken', body.token, options)).toMatchObject({
      username,
      nonce: 'n-1',
      hasPremium: true,
      hasOther: false,
    });
    const foreign = await getClient(language).call('verifyToken', body.token, { ...options, appName: 'another' });
    expect(foreign).toMatchObject({ code: 'InvalidToken' });
  });
});

describeLanguages('an outage', (language) => {
  it('keeps the last response for its time, and never longer than the entitlement', async () => {
    let untilMs = 0;
    let status = 200;
    const stub = await startApplicationServer();
    const asOf = Date.parse('2031-01-15T09:30:00.000Z');
    stub.respondWith(() => {
      const until = new Date(asOf + untilMs).toISOString();
      const premium = { isActive: true, since: null, until, willRenew: true, isSandbox: false, isInGracePeriod: false };
      const answer = { entitlements: { premium }, asOf: new Date(asOf).toISOString() };
      return { status, body: status === 200 ? JSON.stringify(answer) : '<html>Bad gateway</html>' };
    });
    const check = async (username: string) => await getClient(language).call('hasEntitlement', username, 'premium');
    await connect(language, { url: stub.url, cacheSeconds: 60, outageSeconds: 5 });
    untilMs = 3_000;
    expect(await check('short')).toMatchObject({ result: true });
    untilMs = 600_000;
    expect(await check('long')).toMatchObject({ result: true });
    const answered = stub.requests.length;
    expect(await check('long')).toMatchObject({ result: true });
    expect(stub.requests).toHaveLength(answered);
    status = 502;
    for (const username of ['short', 'long']) await getClient(language).call('invalidate', username);
    expect(await check('long')).toMatchObject({ result: true });
    // One request, then a pause: pages do not wait for the time limit of a request.
    expect(await check('long')).toMatchObject({ result: true });
    expect(stub.requests).toHaveLength(answered + 1);
    await sleep(3_200);
    expect(await check('short')).toMatchObject({ result: false });
    await sleep(2_200);
    expect(await check('long')).toMatchObject({ code: 'Unreachable', status: 502, isTemporary: true });
    await stub.close();
    expect(await check('new')).toMatchObject({ code: 'Unreachable', isTemporary: true });
  });
});

describeLanguages('a token', (language) => {
  it('verifies a token with keys that are requested once, and with the next key after a rotation', async () => {
    const keys = createTokenKeys(Date.now());
    const stub = await startApplicationServer();
    stub.respondWith({ status: 200, body: JSON.stringify({ keys: keys.keys.map(toPublicJwk) }) });
    const sign = async (set: TokenKeySet, changes: object = {}): Promise<string> => {
      const source = { type: 'grant', grantId: 'grant_1' } as const;
      const until = Date.now() + 10 * minuteMs;
      const premium = { isActive: true, until, willRenew: true, isSandbox: false, isInGracePeriod: false, source };
      const entitlements = new Map([['premium', premium]]);
      const input = { issuer: stub.url, appName: 'demo', username: 'alice', entitlements, now: Date.now(), ...changes };
      return (await signEntitlementToken(input, set)).token;
    };
    const verify = async (token: string) =>
      await getClient(language).call('verifyToken', token, { url: stub.url, appName: 'demo' });
    const token = await sign(keys);
    const [header = '', payload = '', signature = ''] = token.split('.');
    expect(await verify(token)).toMatchObject({ result: { username: 'alice', hasPremium: true } });
    const rotated = rotateTokenKeys(keys, { overlapMs: 0, now: Date.now() });
    expect(await verify(await sign(rotated))).toMatchObject({ result: { hasPremium: true } });
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const decoded = JSON.parse(Buffer.from(payload, 'base64url').toString());
    for (const invalid of [
      '',
      'x.y',
      `${header}.${payload}.`,
      `${header}.${payload}.${signature}.x`,
      `${header}.${encode({ ...decoded, sub: 'mallory' })}.${signature}`,
      `${encode({ alg: 'none', typ: 'entitlements+jwt', kid: keys.keys[0]?.kid })}.${payload}.`,
      `${encode({ alg: 'HS256', typ: 'entitlements+jwt', kid: keys.keys[0]?.kid })}.${payload}.${signature}`,
      await sign(createTokenKeys(Date.now())),
      await sign(keys, { appName: 'another' }),
      await sign(keys, { issuer: 'https://attacker.example.com' }),
      await sign(keys, { now: Date.now() - 120 * minuteMs }),
    ])
      expect(await verify(invalid)).toMatchObject({ code: 'InvalidToken', isTemporary: false });
    expect(stub.requests).toHaveLength(1);
    await stub.close();
    expect(await verify(token)).toMatchObject({ result: { username: 'alice' } });
  });
});

describe('stopped service', () => {
  it('does not end the access of customers that a server has checked', async () => {
    const { baseUrl: url, appName } = service;
    const tokens = new Map<Language, string>();
    for (const language of clients.keys()) {
      const path = `/v3/customers/${encodeURIComponent(`zoë/${language}`)}/entitlements/token`;
      tokens.set(language, (await callLocalService(service, path, {})).body.token);
      await connect(language);
      expect(await call(language, 'hasEntitlement', `zoë/${language}`, 'premium')).toBe(true);
      await call(language, 'verifyToken', tokens.get(language), { url, appName });
    }
    await service.close();
    for (const language of clients.keys()) {
      expect(await call(language, 'hasEntitlement', `zoë/${language}`, 'premium')).toBe(true);
      expect(await getClient(language).call('hasEntitlement', 'nora', 'premium')).toMatchObject({
        code: 'Unreachable',
      });
      expect(await call(language, 'verifyToken', tokens.get(language), { url, appName })).toMatchObject({
        hasPremium: true,
      });
    }
  });
});
