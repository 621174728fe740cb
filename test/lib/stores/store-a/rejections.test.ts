import { describe, expect, it } from '@jest/globals';
import { storeA } from '../../../../lib/stores/store-a/store-a.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { buildTransactionPayload, bundleId } from '../../../../testing/apple-payloads.ts';
import { createPki } from '../../../../testing/apple-pki.ts';
import { signJws } from '../../../../testing/apple-signatures.ts';
import {
  apiSettings,
  applePki,
  createAppStore,
  createContext,
  createSignedRequest,
  createSubscriber,
  jsonResponse,
  textResponse,
} from '../../../../testing/fake-apple.ts';

/** A subscription that has ended lately: only Apple can tell how it stands. */
const ended = buildTransactionPayload({ expiresDate: buildTransactionPayload().purchaseDate + 30_000 });

const outcome = async (fetch: StoreFetch, settings: unknown = apiSettings) =>
  await storeA.validate(createSignedRequest(ended), createContext({ fetch, settings })).then(
    ({ observations, warning }) => ({ observations: observations.length, warning }),
    ({ code, message, cause }) => ({ code, message, cause }),
  );

const always =
  (status: number, text: string): StoreFetch =>
  async () =>
    textResponse(status, text);
const inProduction =
  (production: StoreFetch, sandbox: StoreFetch): StoreFetch =>
  async (url, init) =>
    await (url.includes('sandbox') ? sandbox(url, init) : production(url, init));

const unauthenticated = always(401, 'Unauthenticated\n');
const notFound: StoreFetch = async () => jsonResponse(404, { errorCode: 4040010 });
const signedAnswer =
  (signed: string): StoreFetch =>
  async (url) =>
    jsonResponse(200, {
      environment: 'Production',
      bundleId,
      ...(url.includes('history') ? { signedTransactions: [signed], hasMore: false } : { data: [] }),
    });

describe('Apple does not answer', () => {
  it.each<readonly [string, StoreFetch]>([
    ['with a page', always(200, '<html><body>Please wait</body></html>')],
    ['with nothing', always(200, '')],
    ['with other words', always(200, '{"ok":true}')],
    ['with half an answer', always(200, '{"environment":"Production","bun')],
    ['with null', always(200, 'null')],
    ['for an outage', always(503, 'Service Unavailable')],
    ['for an internal error', async () => jsonResponse(500, { errorCode: 5000000 })],
    ['for an internal error that passes', async () => jsonResponse(500, { errorCode: 5000001 })],
    ['for the rate limit', async () => jsonResponse(429, { errorCode: 4290000 })],
    ['for an account that is not found for now', async () => jsonResponse(404, { errorCode: 4040002 })],
    ['for an application that is not found for now', async () => jsonResponse(404, { errorCode: 4040004 })],
    ['for a transaction that is not found for now', async () => jsonResponse(404, { errorCode: 4040006 })],
    ['with a page for 404', always(404, '<html>Not Found</html>')],
    ['with an error of the future', async () => jsonResponse(400, { errorCode: 4999999 })],
    [
      'for another application',
      async () =>
        jsonResponse(200, {
          environment: 'Production',
          bundleId: 'com.example.other',
          data: [],
          signedTransactions: [],
          hasMore: false,
        }),
    ],
    [
      'for another environment',
      async () =>
        jsonResponse(200, { environment: 'Sandbox', bundleId, data: [], signedTransactions: [], hasMore: false }),
    ],
    ['with a transaction that it did not sign', signedAnswer(signJws(buildTransactionPayload(), createPki()))],
    [
      'with a transaction of another application',
      signedAnswer(signJws(buildTransactionPayload({ bundleId: 'com.example.other' }), applePki)),
    ],
    [
      'with a transaction of another environment',
      signedAnswer(signJws(buildTransactionPayload({ environment: 'Sandbox' }), applePki)),
    ],
    ['with a transaction that is none', signedAnswer('garbage')],
  ])('%s: the connection failed', async (_title, fetch) => {
    expect(await outcome(fetch)).toMatchObject({ code: 'ConnectionFailed' });
  });
});

describe('Apple refuses our key', () => {
  it('in both environments: the settings are wrong, and the caller is not told more', async () => {
    expect(await outcome(unauthenticated)).toMatchObject({
      code: 'InternalError',
      message: 'Apple refuses the store_a settings of this application.',
      cause: expect.stringContaining('401'),
    });
  });

  it('in production, while the sandbox knows the transaction: that is the answer', async () => {
    const sandboxed = buildTransactionPayload({ environment: 'Sandbox' });
    const sandbox = createAppStore({ Sandbox: { transactions: [sandboxed] } }).fetch;
    expect(await outcome(inProduction(unauthenticated, sandbox))).toEqual({ observations: 1, warning: undefined });
  });

  it('in production, while the sandbox knows nothing: that is not for the customer to suffer', async () => {
    expect(await outcome(inProduction(unauthenticated, notFound))).toMatchObject({ code: 'InternalError' });
  });

  it('because it does not know the application', async () => {
    expect(await outcome(async () => jsonResponse(404, { errorCode: 4040003 }))).toMatchObject({
      code: 'InternalError',
    });
  });

  it('because the number of the application is another one', async () => {
    const { fetch } = createAppStore({ Production: createSubscriber(1) });
    expect(await outcome(fetch, { ...apiSettings, appAppleId: 5 })).toMatchObject({ code: 'InternalError' });
  });
});

describe('Apple does not know the transaction', () => {
  it.each([4040010, 4040005, 4040001, 4000006])(
    'with error %d in both environments: it is invalid',
    async (errorCode) => {
      expect(await outcome(async () => jsonResponse(404, { errorCode }))).toMatchObject({ code: 'InvalidPayload' });
    },
  );

  it('in production but in the sandbox: that is the answer', async () => {
    const sandboxed = buildTransactionPayload({ environment: 'Sandbox' });
    expect(await outcome(createAppStore({ Sandbox: { transactions: [sandboxed] } }).fetch)).toMatchObject({
      observations: 1,
    });
  });

  it('among the subscriptions, but in the history', async () => {
    const { fetch } = createAppStore({ Production: createSubscriber(1) });
    const oneSided: StoreFetch = async (url) => (url.includes('subscriptions') ? notFound(url) : fetch(url));
    expect(await outcome(oneSided)).toEqual({ observations: 1, warning: undefined });
  });
});

describe('a client sends', () => {
  const sent = async (transaction: Record<string, unknown>, { settings }: { settings: unknown } = createContext()) =>
    await storeA
      .validate({ id: bundleId, type: 'application', transaction }, createContext({ settings }))
      .catch(({ code, message }) => ({ code, message }));
  const jws = (payload: object, changes: object = {}) => ({ jwsRepresentation: signJws(payload, applePki, changes) });

  it.each<readonly [string, Record<string, unknown>]>([
    ['no evidence', {}],
    ['empty evidence', { appStoreReceipt: '', jwsRepresentation: null }],
    ['a number', { appStoreReceipt: 5 }],
    ['an object', { jwsRepresentation: { a: 1 } }],
    ['words', { appStoreReceipt: 'not a receipt' }],
    ['a JWS of another application', jws(buildTransactionPayload({ bundleId: 'com.example.other' }))],
    ['a JWS of Xcode', jws(buildTransactionPayload({ environment: 'Xcode' }))],
    ['a JWS of local testing', jws(buildTransactionPayload({ environment: 'LocalTesting' }))],
    ['a JWS with its signature in DER', jws(buildTransactionPayload(), { encoding: 'der' })],
    ['a JWS of another algorithm', jws(buildTransactionPayload(), { header: { alg: 'none' } })],
    [
      'a renewal instead of a transaction',
      jws({ originalTransactionId: '1001', environment: 'Production', signedDate: 1 }),
    ],
    ['a download of another application', jws({ receiptType: 'Production', bundleId: 'com.example.other' })],
    ['a download of another number', jws({ receiptType: 'Production', bundleId, appAppleId: 5 })],
  ])('%s: the payload is invalid', async (_title, transaction) => {
    expect(await sent(transaction)).toMatchObject({ code: 'InvalidPayload' });
  });

  it('a receipt of iOS 6, which only verifyReceipt can judge', async () => {
    const transactionReceipt = Buffer.from('{\n"purchase-info" = "e30=";\n}').toString('base64');
    expect(await sent({ transactionReceipt })).toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringContaining('shared secret'),
    });
  });

  it('anything to an application without settings', async () => {
    for (const settings of [undefined, null]) {
      expect(await sent(jws(buildTransactionPayload()), { settings })).toMatchObject({
        code: 'InvalidPayload',
        message: expect.stringContaining('no store_a settings'),
      });
    }
  });

  it('anything to an application whose settings are unusable', async () => {
    for (const settings of [{}, { bundleId, keyId: 'alone' }, { ...apiSettings, privateKey: brokenKey }]) {
      expect(await sent(jws(buildTransactionPayload()), { settings })).toMatchObject({ code: 'InternalError' });
    }
  });
});

const brokenKey = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';
