import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { generateApiKey } from '../../../lib/apps/app.ts';
import { createEventRecorder } from '../../../lib/events/event-recorder.ts';
import { toLoggable } from '../../../lib/foundation/log.ts';
import { sanitize } from '../../../lib/foundation/redaction/sanitize.ts';
import { sampleRuns } from '../../../testing/sample.ts';

const canary = 'CANARY-secret-value';
const secretFields = [
  'appStoreReceipt',
  'transactionReceipt',
  'jwsRepresentation',
  'purchaseToken',
  'signature',
  'receipt',
  'accessToken',
  'paymentMethodNonce',
  'storeIdKey_collections',
  'password',
  'apiKey',
  'authorization',
  'unlisted_field',
];

describe('createEventRecorder', () => {
  it('removes the values of fields that are not on the allowlist, at any depth', () => {
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        fc.dictionary(fc.constantFrom(...secretFields), fc.constant(canary)),
        fc.dictionary(fc.constantFrom('transaction', 'data', 'products', 'license'), tie('node')),
        fc.array(tie('node'), { maxLength: 3 }),
      ),
    })).node;
    fc.assert(
      fc.property(tree, (body) => {
        const recorder = createEventRecorder({ type: 'receipt.validated', date: 0 });
        recorder.addContent({ products: [body as object], transactions: [{ type: 'x', ...(body as object) }] });
        const end = { request: { method: 'POST', body }, response: body, outcome: { status: 200, ok: true } };
        expect(JSON.stringify(recorder.finish(end))).not.toContain(canary);
      }),
      sampleRuns({ sample: 100, full: 500 }),
    );
  });

  it.each(['sec', 'pub'])('does not keep an API key (%s) that is sent as a username', (level) => {
    const key = generateApiKey(level === 'sec' ? 'secret' : 'public');
    const recorder = createEventRecorder({ type: 'receipt.validated', date: 0 });
    recorder.setUser(key);
    const body = { additionalData: { applicationUsername: key } };
    const result = recorder.finish({
      request: { body },
      response: {},
      outcome: { status: 200, ok: true },
    });
    expect(JSON.stringify(result)).not.toContain(key);
  });

  it('returns all lists, and the tags of user, request and error', () => {
    const recorder = createEventRecorder({ type: 'receipt.validated', date: 0, reqId: 'req-1' });
    recorder.setUser('ann');
    const { event } = recorder.finish({
      request: {},
      response: {},
      outcome: { status: 400, ok: false },
      error: { code: 'InvalidPayload', status: 400, message: 'no' },
    });
    expect(event.content).toMatchObject({
      products: [],
      purchases: [],
      transactions: [],
      claims: [],
      refreshFailures: [],
    });
    expect(event.content.tags).toEqual({ ann: '_A', 'req-1': '_R', error: '_X' });
  });

  it.each(['error', 'req-1', 'store_a:1'])('keeps the user tag if the username %s equals another tag', (username) => {
    const recorder = createEventRecorder({ type: 'receipt.validated', date: 0, reqId: 'req-1' });
    recorder.setUser(username);
    recorder.addTag('store_a:1', '_P');
    const { event } = recorder.finish({ request: {}, response: {}, outcome: { status: 400, ok: false } });
    expect(event.content.tags).toEqual({ 'store_a:1': '_P', 'req-1': '_R', error: '_X', [username]: '_A' });
  });

  it('removes secrets of the request from store messages that repeat them', () => {
    const [receipt, nonce] = ['MIIT-the-receipt', 'tokencc_the-nonce'];
    const recorder = createEventRecorder({ type: 'receipt.validated', date: 0 });
    recorder.addContent({ refreshFailures: [{ platform: 'store_a', reason: `cannot settle ${nonce}` }] });
    const timing = { startedAt: 0, endedAt: 1 };
    recorder.addExternalCall({ type: 'x', url: `https://x/${encodeURIComponent(receipt)}`, method: 'GET', timing });
    const message = `malformed: ${'x'.repeat(290)}${receipt} for key 0123-of-the-app`;
    const finished = recorder.finish({
      request: { body: { transaction: { appStoreReceipt: receipt, odd: [{ deep: nonce }] } } },
      outcome: { status: 400, ok: false },
      response: { ok: false, message, data: { error: { message }, warning: nonce } },
      error: { code: 'InvalidPayload', status: 400, message },
      credentials: ['0123-of-the-app'],
    });
    const text = JSON.stringify(finished);
    for (const secret of ['MIIT', nonce, '0123-of']) expect(text).not.toContain(secret);
    expect(finished.event.outcome.message).toMatch(/^malformed: x+/);
    expect(finished.event.content.refreshFailures).toEqual([
      { platform: 'store_a', reason: 'cannot settle [removed]' },
    ]);
  });

  it.each([
    ['an access token', `ak_${'a1B2'.repeat(8)}`],
    ['a key', `sec_${'a1B2'.repeat(8)}`],
    ['a signed message', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
    ['a credential', 'Basic YXBwOnNlY19rZXk='],
    ['a receipt', 'MIITpAYJKoZIhvcNAQcCo0IT'.repeat(20)],
  ])('removes %s from messages and logs', (_what, secret) => {
    expect(JSON.stringify(sanitize({ message: `got ${secret}.` }))).not.toContain(secret.slice(0, 20));
    expect(JSON.stringify(toLoggable(new Error(`got ${secret}.`)))).not.toContain(secret.slice(0, 20));
    expect(JSON.stringify(toLoggable({ message: secret, config: { headers: [secret] } }))).not.toContain(secret);
  });

  it('counts the omitted rows of a list', () => {
    const recorder = createEventRecorder({ type: 'receipt.validated', date: 0 });
    recorder.addContent({ purchases: Array.from({ length: 130 }, (_, index) => ({ purchaseId: `store_a:${index}` })) });
    const { content } = recorder.finish({ request: {}, response: {}, outcome: { status: 200, ok: true } }).event;
    expect([content.purchases.length, content.trimmed]).toEqual([100, { purchases: 30 }]);
  });

  it('marks trimmed texts and lists', () => {
    expect(sanitize({ message: 'x'.repeat(1000) })).toEqual({ message: expect.stringMatching(/^x{300} \[trimmed\]$/) });
    expect(sanitize({ products: Array.from({ length: 25 }, () => 1) })).toEqual({
      products: expect.arrayContaining(['[trimmed] 5 more']),
    });
  });

  it('replaces lone surrogates, which cannot be stored', () => {
    expect(sanitize({ message: '\uD800' })).toEqual({ message: '\uFFFD' });
  });
});
