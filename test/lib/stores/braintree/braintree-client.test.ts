import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import braintree from 'braintree';
import {
  callBraintree,
  createGateway,
  getHttp,
  patchedClientVersion,
} from '../../../../lib/stores/braintree/braintree-client.ts';
import type { StoreFetch, StoreRequest } from '../../../../lib/stores/store-context.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';

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
  const http = await createHttp(async () => ({ status: 200, headers: new Headers(), text }));
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
    const calls: { url: string; init: StoreRequest | undefined }[] = [];
    const http = await createHttp(async (url, init) => {
      calls.push({ url, init });
      return { status: 201, headers: new Headers(), text: '<customer><id>one</id></customer>' };
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
