import { describe, expect, it } from '@jest/globals';
import { appStore } from '../../../../lib/stores/app-store/app-store.ts';
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

/** A recently ended subscription. Only the App Store has its current state. */
const endedTransaction = buildTransactionPayload({ expiresDate: buildTransactionPayload().purchaseDate + 30_000 });

/** Returns the number of observations and the warning, or the error. */
const validate = async (fetch: StoreFetch, settings: unknown = apiSettings) =>
  await appStore.validate(createSignedRequest(endedTransaction), createContext({ fetch, settings })).then(
    ({ observations, warning }) => ({ observations: observations.length, warning }),
    ({ code, message, cause }) => ({ code, message, cause }),
  );

const respond =
  (status: number, text: string): StoreFetch =>
  async () =>
    textResponse(status, text);
const byEnvironment =
  (production: StoreFetch, sandbox: StoreFetch): StoreFetch =>
  async (url, init) =>
    await (url.includes('sandbox') ? sandbox(url, init) : production(url, init));

const unauthenticated = respond(401, 'Unauthenticated\n');
const notFound: StoreFetch = async () => jsonResponse(404, { errorCode: 4040010 });
const respondWithTransaction =
  (jws: string): StoreFetch =>
  async (url) =>
    jsonResponse(200, {
      environment: 'Production',
      bundleId,
      ...(url.includes('history') ? { signedTransactions: [jws], hasMore: false } : { data: [] }),
    });

describe('validate (App Store) with an unusable response of the App Store', () => {
  it.each<readonly [string, StoreFetch]>([
    ['HTML', respond(200, '<html><body>Please wait</body></html>')],
    ['an empty body', respond(200, '')],
    ['an unexpected body', respond(200, '{"ok":true}')],
    ['truncated JSON', respond(200, '{"environment":"Production","bun')],
    ['null', respond(200, 'null')],
    ['HTTP 503', respond(503, 'Service Unavailable')],
    ['an internal error', async () => jsonResponse(500, { errorCode: 5000000 })],
    ['a retryable internal error', async () => jsonResponse(500, { errorCode: 5000001 })],
    ['a rate limit error', async () => jsonResponse(429, { errorCode: 4290000 })],
    ['the retryable error AccountNotFound', async () => jsonResponse(404, { errorCode: 4040002 })],
    ['the retryable error AppNotFound', async () => jsonResponse(404, { errorCode: 4040004 })],
    ['the retryable error OriginalTransactionIdNotFound', async () => jsonResponse(404, { errorCode: 4040006 })],
    ['HTTP 404 with HTML', respond(404, '<html>Not Found</html>')],
    ['an unknown error code', async () => jsonResponse(400, { errorCode: 4999999 })],
    [
      'a response for a different bundleId',
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
      'a response for a different environment',
      async () =>
        jsonResponse(200, { environment: 'Sandbox', bundleId, data: [], signedTransactions: [], hasMore: false }),
    ],
    ['a transaction under an untrusted root', respondWithTransaction(signJws(buildTransactionPayload(), createPki()))],
    [
      'a transaction with a different bundleId',
      respondWithTransaction(signJws(buildTransactionPayload({ bundleId: 'com.example.other' }), applePki)),
    ],
    [
      'a transaction from a different environment',
      respondWithTransaction(signJws(buildTransactionPayload({ environment: 'Sandbox' }), applePki)),
    ],
    ['an invalid transaction', respondWithTransaction('garbage')],
  ])('throws ConnectionFailed for %s', async (_title, fetch) => {
    expect(await validate(fetch)).toMatchObject({ code: 'ConnectionFailed' });
  });
});

describe('validate (App Store) with a rejected API key', () => {
  it('throws InternalError with the status in the cause only if both environments reject it', async () => {
    expect(await validate(unauthenticated)).toMatchObject({
      code: 'InternalError',
      message: 'The App Store rejected the settings: the API key is not valid.',
      cause: expect.stringContaining('401'),
    });
  });

  it('returns the sandbox purchase if only production rejects the key', async () => {
    const transaction = buildTransactionPayload({ environment: 'Sandbox' });
    const sandbox = createAppStore({ Sandbox: { transactions: [transaction] } }).fetch;
    expect(await validate(byEnvironment(unauthenticated, sandbox))).toEqual({ observations: 1, warning: undefined });
  });

  it('throws InternalError if production rejects the key and the sandbox does not contain the transaction', async () => {
    expect(await validate(byEnvironment(unauthenticated, notFound))).toMatchObject({ code: 'InternalError' });
  });

  it('throws InternalError if the app is not found', async () => {
    expect(await validate(async () => jsonResponse(404, { errorCode: 4040003 }))).toMatchObject({
      code: 'InternalError',
    });
  });

  it('throws InternalError if appAppleId does not match', async () => {
    const { fetch } = createAppStore({ Production: createSubscriber(1) });
    expect(await validate(fetch, { ...apiSettings, appAppleId: 5 })).toMatchObject({ code: 'InternalError' });
  });
});

describe('validate (App Store) with an unknown transaction', () => {
  it.each([4040010, 4040005, 4040001, 4000006])(
    'throws InvalidPayload if both environments return error %d',
    async (errorCode) => {
      expect(await validate(async () => jsonResponse(404, { errorCode }))).toMatchObject({ code: 'InvalidPayload' });
    },
  );

  it('returns the sandbox purchase if production does not contain it', async () => {
    const transaction = buildTransactionPayload({ environment: 'Sandbox' });
    expect(await validate(createAppStore({ Sandbox: { transactions: [transaction] } }).fetch)).toMatchObject({
      observations: 1,
    });
  });

  it('uses the history if the subscription statuses do not contain it', async () => {
    const { fetch } = createAppStore({ Production: createSubscriber(1) });
    const fetchHistoryOnly: StoreFetch = async (url) => (url.includes('subscriptions') ? notFound(url) : fetch(url));
    expect(await validate(fetchHistoryOnly)).toEqual({ observations: 1, warning: undefined });
  });
});

describe('validate (App Store) with invalid evidence', () => {
  const validateEvidence = async (
    transaction: Record<string, unknown>,
    { settings }: { settings: unknown } = createContext(),
  ) =>
    await appStore
      .validate({ id: bundleId, type: 'application', transaction }, createContext({ settings }))
      .catch(({ code, message }) => ({ code, message }));
  const buildEvidence = (payload: object, changes: object = {}) => ({
    jwsRepresentation: signJws(payload, applePki, changes),
  });

  it.each<readonly [string, Record<string, unknown>]>([
    ['no evidence', {}],
    ['empty evidence', { appStoreReceipt: '', jwsRepresentation: null }],
    ['a number', { appStoreReceipt: 5 }],
    ['an object', { jwsRepresentation: { a: 1 } }],
    ['text', { appStoreReceipt: 'not a receipt' }],
    ['a JWS with a different bundleId', buildEvidence(buildTransactionPayload({ bundleId: 'com.example.other' }))],
    ['a JWS from Xcode', buildEvidence(buildTransactionPayload({ environment: 'Xcode' }))],
    ['a JWS from local testing', buildEvidence(buildTransactionPayload({ environment: 'LocalTesting' }))],
    ['a JWS with its signature in DER', buildEvidence(buildTransactionPayload(), { encoding: 'der' })],
    ['a JWS with the algorithm none', buildEvidence(buildTransactionPayload(), { header: { alg: 'none' } })],
    ['a renewal', buildEvidence({ originalTransactionId: '1001', environment: 'Production', signedDate: 1 })],
    [
      'an app download with a different bundleId',
      buildEvidence({ receiptType: 'Production', bundleId: 'com.example.other' }),
    ],
    [
      'an app download with a different appAppleId',
      buildEvidence({ receiptType: 'Production', bundleId, appAppleId: 5 }),
    ],
  ])('throws InvalidPayload for %s', async (_title, transaction) => {
    expect(await validateEvidence(transaction)).toMatchObject({ code: 'InvalidPayload' });
  });

  it('throws InvalidPayload for an iOS 6 receipt without a shared secret', async () => {
    const transactionReceipt = Buffer.from('{\n"purchase-info" = "e30=";\n}').toString('base64');
    expect(await validateEvidence({ transactionReceipt })).toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringContaining('shared secret'),
    });
  });

  it('throws InternalError if the settings are not valid', async () => {
    for (const settings of [{}, { bundleId, keyId: 'alone' }, { ...apiSettings, privateKey: brokenKey }]) {
      expect(await validateEvidence(buildEvidence(buildTransactionPayload()), { settings })).toMatchObject({
        code: 'InternalError',
      });
    }
  });
});

const brokenKey = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';
