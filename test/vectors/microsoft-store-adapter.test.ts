import { expect, it } from '@jest/globals';
import { dayMs } from '../../lib/foundation/time.ts';
import { renewKeys } from '../../lib/stores/microsoft-store/key-renewal.ts';
import { microsoftStore } from '../../lib/stores/microsoft-store/microsoft-store.ts';
import { createSession } from '../../lib/stores/microsoft-store/session.ts';
import type { ValidationRequest } from '../../lib/stores/store.ts';
import type { StoreFetch, StoreFetchOptions } from '../../lib/stores/store-context.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';
import { createContext, createResponse, startTime } from '../lib/stores/microsoft-store/fake-microsoft.ts';

const readSample = (name: string) => JSON.parse(readVector('microsoft/docs-samples', `${name}.json`).toString('utf8'));

const clientId = '1d577369-5a3b-4492-8227-393bfef1e13d';

/** Creates a Store ID key with the claims of the published sample, except its service and its expiration. */
function createKey(service: string, expiresAt = startTime + 20 * dayMs): string {
  const issuer = `https://${service}.mp.microsoft.com/v6.0/keys`;
  const { header, claims } = readSample('store-id-key-claims');
  const changed = { ...claims, iss: issuer, aud: issuer, exp: expiresAt / 1000 };
  return `${[header, changed].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.AAAA`;
}

/** Creates a store context whose fetch responds with samples and records the requests. */
function createSampleStore(responses: Readonly<Record<string, { status?: number; body?: object }>>) {
  const requests: { url: string; init: StoreFetchOptions }[] = [];
  const fetch: StoreFetch = async (url, init = {}) => {
    requests.push({ url, init });
    const { response } = readSample('token.request');
    const sampleResponse: { status?: number; body?: object } | undefined = url.startsWith('https://login.')
      ? { body: response }
      : responses[url];
    return createResponse({
      status: sampleResponse?.status ?? (sampleResponse ? 200 : 404),
      text: JSON.stringify(sampleResponse?.body ?? {}),
    });
  };
  const settings = { tenantId: `tenant-${Math.random()}`, clientId, clientSecret: 'secret' };
  return { requests, context: createContext(fetch, settings), settings };
}

const parseBody = ({ init }: { init: StoreFetchOptions }) => JSON.parse(init.body ?? '');

describeWithVectors("store_c with Microsoft's published samples", () => {
  const recurrencesUrl = 'https://purchase.mp.microsoft.com/v8.0/b2b/recurrences/query';
  const subscription: ValidationRequest = {
    id: '9NBLGGH52Q8X',
    type: 'paid subscription',
    transaction: { type: 'store_c-transaction', storeId: '9NBLGGH52Q8X' },
    license: {},
  };

  it('requests a token like the sample and parses its response', async () => {
    const { url, form, contentType, method } = readSample('token.request');
    const store = createSampleStore({ [recurrencesUrl]: readSample('recurrences-v8-query.response') });
    await microsoftStore.validate(
      { ...subscription, license: { storeIdKey_purchases: createKey('purchase') } },
      store.context,
    );
    const [tokenRequest, queryRequest] = store.requests;
    expect(tokenRequest?.url).toBe(url.replace('<tenant_id>', store.settings.tenantId));
    expect(tokenRequest?.init).toMatchObject({ method, headers: { 'content-type': contentType } });
    expect(Object.fromEntries(new URLSearchParams(tokenRequest?.init.body))).toEqual({
      ...form,
      client_id: clientId,
      client_secret: 'secret',
    });
    expect(queryRequest?.init.headers?.authorization).toBe('Bearer REDACTED');
  });

  it('returns the subscription of the sample', async () => {
    const store = createSampleStore({ [recurrencesUrl]: readSample('recurrences-v8-query.response') });
    const [item] = readSample('recurrences-v8-query.response').body.items;
    const license = { storeIdKey_purchases: createKey('purchase') };
    const validation = await microsoftStore.validate({ ...subscription, license }, store.context);
    expect(validation.nativeTransaction).toEqual(item);
    expect(validation.observations).toMatchObject([
      {
        purchase: {
          purchaseId: `store_c:${item.id}`,
          productId: 'store_c:9NBLGGH52Q8X',
          offerId: 'store_c:9NBLGGH52Q8X#0024',
          purchaseDate: Date.parse('2017-01-10T21:07:49.255Z'),
          expirationDate: Date.parse('2017-06-11T03:07:49.255Z'),
          renewalIntent: 'Renew',
        },
        userAliases: ['infusQMLaYCrgtC0d/SZWoPB4FqLEwHXgZFuMJ6TuTY=', 'gFVuEBiZHPXonkYvtdOi+tLE2h4g2Ss0ZId0RQOwzDg='],
      },
    ]);
  });

  it('queries a collection like the sample and returns its item', async () => {
    const request = readSample('collections-v6-query.request');
    const store = createSampleStore({ [request.url]: readSample('collections-v6-query.response') });
    const license = { storeIdKey_collections: createKey('collections') };
    const validation = await microsoftStore.validate(
      { id: 'consumable2', type: 'consumable', transaction: { type: 'store_c-transaction' }, license },
      store.context,
    );
    expect(validation.observations).toMatchObject([
      {
        purchase: {
          purchaseId: 'store_c:4b8fbb13127a41f299270ea668681c1d',
          transactionId: 'store_c:4ba5960d-4ec6-4a81-ac20-aafce02ddf31',
          productId: 'store_c:9NBLGGH5WVP6',
          productType: 'consumable',
          purchaseDate: Date.parse('2015-09-22T19:22:51.206Z'),
          isConsumed: false,
        },
      },
    ]);
    expect(validation.observations[0]?.purchase).not.toHaveProperty('expirationDate');
    expect(JSON.stringify(validation.nativeTransaction)).not.toContain('user123');
    const query = store.requests.find(({ url }) => url === request.url);
    const { beneficiaries, ...rest } = parseBody(query ?? { init: {} });
    expect(Object.keys(request.body)).toEqual(expect.arrayContaining(Object.keys(rest)));
    const listLowerCaseKeys = (names: object): string[] =>
      Object.keys(names)
        .map((name) => name.toLowerCase())
        .sort();
    expect(listLowerCaseKeys(beneficiaries[0])).toEqual(listLowerCaseKeys(request.body.beneficiaries[0]));
  });

  it('renews a key like the sample', async () => {
    const request = readSample('keys-renew');
    const renewedKey = createKey('collections', startTime + 30 * dayMs);
    const store = createSampleStore({ [request.url]: { body: { ...request.response.body, key: renewedKey } } });
    const currentKey = createKey('collections', startTime + dayMs);
    const token = await renewKeys(createSession(store.context), {
      collectionsKey: currentKey,
      productId: '9NBLGGH5WVP6',
    });
    expect(token.collectionsKey).toBe(renewedKey);
    const names = Object.keys(parseBody(store.requests.at(-1) ?? { init: {} })).map((name) => name.toLowerCase());
    expect(names).toEqual(Object.keys(request.body).map((name) => name.toLowerCase()));
  });
});
