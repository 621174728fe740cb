import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import braintree from 'braintree';
import {
  callBraintree,
  createGateway,
  getHttp,
  patchedClientVersion,
  withRequestBudget,
} from '../../../../lib/stores/braintree/braintree-client.ts';
import { createRecordedFetch } from '../../../../lib/stores/recorded-fetch.ts';
import type { StoreFetch, StoreFetchOptions } from '../../../../lib/stores/store-context.ts';
import type { BudgetedCalls } from '../../../../lib/stores/time-budget.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { createManualStopwatch, stoppedStopwatch } from '../../../../testing/stopwatch.ts';
import { startFakeBraintree } from './fake-braintree.ts';

const settings = {
  merchantId: 'merchant',
  publicKey: 'public',
  privateKey: 'private',
  environment: 'sandbox',
  catalogue: {},
};

const createHttp = async (fetch: StoreFetch) =>
  getHttp(await createGateway({ settings, fetch, stopwatch: stoppedStopwatch }));

/** Parses a response body like a request of the client does. */
const parseBody = async (text: string): Promise<unknown> => {
  const http = await createHttp(async () => ({ status: 200, headers: {}, text }));
  return await http.httpRequest('GET', '/merchants/merchant/plans', null);
};

describe('the Braintree package', () => {
  const packagePath = createRequire(import.meta.url).resolve('braintree/package.json');
  const officialHttp = getHttp(
    new braintree.BraintreeGateway({
      environment: braintree.Environment.Sandbox,
      merchantId: 'merchant',
      publicKey: 'public',
      privateKey: 'private',
    }),
  );

  it('matches the version that the adapter patches', () => {
    expect(JSON.parse(readFileSync(packagePath, 'utf8')).version).toBe(patchedClientVersion);
  });

  it('offers the private members that the adapter uses', () => {
    expect(typeof officialHttp.httpRequest).toBe('function');
    expect(Object.keys(officialHttp._headers()).sort()).toEqual([
      'Accept',
      'Accept-Encoding',
      'Authorization',
      'Content-Type',
      'User-Agent',
      'X-ApiVersion',
    ]);
    expect([200, 201, 422].map((status) => officialHttp.checkHttpStatus(status))).toEqual([null, null, null]);
    expect([401, 403, 404, 429, 503].map((status) => officialHttp.checkHttpStatus(status))).toMatchObject([
      { type: 'authenticationError' },
      { type: 'authorizationError' },
      { type: 'notFoundError' },
      { type: 'tooManyRequestsError' },
      { type: 'serviceUnavailableError' },
    ]);
  });

  it('sends all requests through the patched member', async () => {
    const requests: unknown[][] = [];
    const gateway = await createGateway({
      settings,
      fetch: async () => Promise.reject(new Error('unexpected')),
      stopwatch: stoppedStopwatch,
    });
    getHttp(gateway).httpRequest = async (...request) => {
      requests.push(request);
      return {};
    };
    await gateway.customer.delete('one');
    expect(requests).toMatchObject([['DELETE', '/merchants/merchant/customers/one', null]]);
  });
});

describe('createGateway', () => {
  it('sends authenticated requests to the host of the environment', async () => {
    const calls: { url: string; init: StoreFetchOptions | undefined }[] = [];
    const http = await createHttp(async (url, init) => {
      calls.push({ url, init });
      return { status: 201, headers: {}, text: '<customer><id>one</id></customer>' };
    });
    await http.httpRequest('POST', '/merchants/merchant/customers', { customer: { firstName: 'Ann' } });
    expect(calls).toMatchObject([
      {
        url: 'https://api.sandbox.braintreegateway.com/merchants/merchant/customers',
        init: {
          method: 'POST',
          body: '{"customer":{"first_name":"Ann"}}',
          headers: { Authorization: `Basic ${btoa('public:private')}`, 'Accept-Encoding': 'identity' },
        },
      },
    ]);
  });

  it.each([
    [
      'typed members',
      '<a-b><c-d type="integer">7</c-d><e type="boolean">true</e><f nil="true"/></a-b>',
      { aB: { cD: 7, e: true, f: null } },
    ],
    [
      'lists',
      '<a><ids type="array"><item>1</item><item>2</item></ids><none type="array"/></a>',
      { a: { ids: ['1', '2'], none: [] } },
    ],
    ['entities', '<a>&lt;b&gt; &amp;amp; &#233;&#xe9;</a>', { a: '<b> &amp; éé' }],
    ['comments and declarations', '<?xml version="1.0"?><!-- <x> --><a>1</a>', { a: '1' }],
    ['only whitespace', ' ', {}],
  ])('parses a response with %s', async (_content, text, expected) => {
    expect(await parseBody(text)).toEqual(expected);
  });

  it.each(['text', '<a>', '</a>', '<a></b>', '<a><', '<a>'.repeat(200)])(
    'throws ConnectionFailed for the response %s',
    async (text) => {
      await expect(callBraintree(() => parseBody(text))).rejects.toMatchObject({ code: 'ConnectionFailed' });
    },
  );
});

const fakeBraintree = startBeforeAll(startFakeBraintree);

const writes = [
  ['POST', 'https://api.braintreegateway.com/merchants/m/transactions'],
  ['POST', 'https://api.braintreegateway.com/merchants/m/subscriptions'],
] as const;
const reads = [
  ['GET', 'https://api.braintreegateway.com/merchants/m/subscriptions/id'],
  ['POST', 'https://api.braintreegateway.com/merchants/m/transactions/advanced_search_ids'],
] as const;

/** Sends calls after `passedMs`. Returns the timeout of each sent call and the outcome of each call. */
async function sendAfter(passedMs: number, calls: readonly (readonly ['GET' | 'POST', string])[]) {
  const timeouts: (number | undefined)[] = [];
  const sendCall: StoreFetch = async (_url, init) => {
    timeouts.push(init?.timeoutMs);
    return { status: 200, headers: {}, text: '' };
  };
  const stopwatch = createManualStopwatch();
  const fetch = withRequestBudget({ fetch: sendCall, stopwatch });
  stopwatch.advance(passedMs);
  const results = await Promise.allSettled(calls.map(([method, url]) => fetch(url, { method })));
  return {
    timeouts,
    outcomes: results.map((result) => (result.status === 'rejected' ? result.reason.code : 'sent')),
  };
}

describe('withRequestBudget (Braintree)', () => {
  it('limits each call to 12 s and all calls to 24 s', async () => {
    expect((await sendAfter(0, [...writes, ...reads])).timeouts).toEqual([12_000, 12_000, 12_000, 12_000]);
    const { timeouts } = await sendAfter(18_000, [...writes, ...reads]);
    expect(timeouts).toEqual([6_000, 6_000, 6_000, 6_000]);
  });

  it('rejects writes without enough remaining time, but still sends reads', async () => {
    const { outcomes } = await sendAfter(20_000, [...writes, ...reads]);
    expect(outcomes).toEqual(['ConnectionFailed', 'ConnectionFailed', 'sent', 'sent']);
    expect((await sendAfter(23_900, reads)).outcomes).toEqual(['ConnectionFailed', 'ConnectionFailed']);
  });
});

/** Creates a fetch that advances its stopwatch by `ms` after each matching call. */
function createSlowCalls(paths: RegExp, ms: number): BudgetedCalls {
  const stopwatch = createManualStopwatch();
  const { url: storesUrl, clock } = fakeBraintree;
  const recordedFetch = createRecordedFetch({
    storeName: 'Braintree',
    record: () => undefined,
    now: clock.now,
    stopwatch,
    storesUrl,
  });
  return {
    stopwatch,
    fetch: async (url, init) => {
      const response = await recordedFetch(url, init);
      if (paths.test(url)) stopwatch.advance(ms);
      return response;
    },
  };
}

describe('validate (Braintree) after an interrupted attempt', () => {
  it('creates a subscription once if the first attempt ran out of time before the payment', async () => {
    const { body } = await fakeBraintree.buy({ productId: 'monthly', type: 'paid subscription' });
    const context = fakeBraintree.createContext(createSlowCalls(/\/customers/, 12_000));
    await expect(fakeBraintree.validate(body, context)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    const before = fakeBraintree.countCharges();
    const { observations } = await fakeBraintree.validate(body);
    expect(observations).toMatchObject([{ purchase: { renewalIntent: 'Renew' } }]);
    expect(fakeBraintree.countCharges() - before).toBe(1);
  });

  it('recovers a subscription if the response of the first attempt was lost', async () => {
    const { body } = await fakeBraintree.buy({ productId: 'monthly', type: 'paid subscription' });
    fakeBraintree.loseResponse(/\/subscriptions$/);
    await expect(fakeBraintree.validate(body)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    const before = fakeBraintree.countCharges();
    expect((await fakeBraintree.validate(body)).observations).toMatchObject([{ purchase: { renewalIntent: 'Renew' } }]);
    expect(fakeBraintree.countCharges()).toBe(before);
  });
});
