import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newRecorder } from '../../../lib/events/recorder.ts';
import { sanitize } from '../../../lib/events/sanitize.ts';

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
  'anything_nobody_thought_of',
];

describe('an event', () => {
  it('holds no value of a field that is not on the closed list, however deep it sits', () => {
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
        const recorder = newRecorder({ type: 'receipt.validated', date: 0 });
        recorder.note({ products: [body as object], transactions: [{ type: 'x', ...(body as object) }] });
        const end = { request: { method: 'POST', body }, response: body, outcome: { status: 200, ok: true } };
        expect(JSON.stringify(recorder.finish(end))).not.toContain(canary);
      }),
      { numRuns: 500 },
    );
  });

  it('always has every list, and the tags of its user, its request and its error', () => {
    const recorder = newRecorder({ type: 'receipt.validated', date: 0, reqId: 'req-1' });
    recorder.user('ann');
    const { event } = recorder.finish({
      request: {},
      response: {},
      outcome: { status: 400, ok: false, message: 'no' },
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

  it('says where it trimmed', () => {
    expect(sanitize({ message: 'x'.repeat(1000) })).toEqual({ message: expect.stringMatching(/^x{300} \[trimmed\]$/) });
    expect(sanitize({ products: Array.from({ length: 25 }, () => 1) })).toEqual({
      products: expect.arrayContaining(['[trimmed] 5 more']),
    });
  });

  it('can be stored whatever text it got', () => {
    expect(sanitize({ message: '\uD800' })).toEqual({ message: '\uFFFD' });
  });
});
