import { expect, it } from '@jest/globals';
import type { ValidationRequest } from '../../lib/stores/store.ts';
import { renewKeys } from '../../lib/stores/store-c/key-renewal.ts';
import { createSession } from '../../lib/stores/store-c/session.ts';
import { storeC } from '../../lib/stores/store-c/store-c.ts';
import type { StoreFetch, StoreRequest } from '../../lib/stores/store-context.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';
import { createContext, createResponse, startTime } from '../lib/stores/store-c/fake-microsoft.ts';

const sample = (name: string) => JSON.parse(readVector('microsoft/docs-samples', `${name}.json`).toString('utf8'));

const clientId = '1d577369-5a3b-4492-8227-393bfef1e13d';

/** A StoreID key with the claims of the published sample, but for the date of its expiration and its service. */
function keyOf(service: string, expiresAt = startTime + 20 * 86_400_000): string {
  const issuer = `https://${service}.mp.microsoft.com/v6.0/keys`;
  const { header, claims } = sample('store-id-key-claims');
  const changed = { ...claims, iss: issuer, aud: issuer, exp: expiresAt / 1000 };
  return `${[header, changed].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.AAAA`;
}

/** A Microsoft that answers with samples, and what it was asked. */
function microsoft(responses: Readonly<Record<string, { status?: number; body?: object }>>) {
  const asked: { url: string; init: StoreRequest }[] = [];
  const fetch: StoreFetch = async (url, init = {}) => {
    asked.push({ url, init });
    const { response } = sample('token.request');
    const found: { status?: number; body?: object } | undefined = url.startsWith('https://login.')
      ? { body: response }
      : responses[url];
    return createResponse({ status: found?.status ?? (found ? 200 : 404), text: JSON.stringify(found?.body ?? {}) });
  };
  const settings = { tenantId: `tenant-${Math.random()}`, clientId, clientSecret: 'secret' };
  return { asked, asking: createContext(fetch, settings), settings };
}

const bodyOf = ({ init }: { init: StoreRequest }) => JSON.parse(init.body ?? '');

describeWithVectors("the adapter against Microsoft's published samples", () => {
  const recurrencesUrl = 'https://purchase.mp.microsoft.com/v8.0/b2b/recurrences/query';
  const subscription: ValidationRequest = {
    id: '9NBLGGH52Q8X',
    type: 'paid subscription',
    transaction: { type: 'store_c-transaction', storeId: '9NBLGGH52Q8X' },
    license: {},
  };

  it('asks Entra as the documents do and understands its answer', async () => {
    const { url, form, contentType, method } = sample('token.request');
    const store = microsoft({ [recurrencesUrl]: sample('recurrences-v8-query.response') });
    await storeC.validate({ ...subscription, license: { storeIdKey_purchases: keyOf('purchase') } }, store.asking);
    const [token, query] = store.asked;
    expect(token?.url).toBe(url.replace('<tenant_id>', store.settings.tenantId));
    expect(token?.init).toMatchObject({ method, headers: { 'content-type': contentType } });
    expect(Object.fromEntries(new URLSearchParams(token?.init.body))).toEqual({
      ...form,
      client_id: clientId,
      client_secret: 'secret',
    });
    expect(query?.init.headers?.authorization).toBe('Bearer REDACTED');
  });

  it('reads the sample of a subscription', async () => {
    const store = microsoft({ [recurrencesUrl]: sample('recurrences-v8-query.response') });
    const [item] = sample('recurrences-v8-query.response').body.items;
    const license = { storeIdKey_purchases: keyOf('purchase') };
    const validation = await storeC.validate({ ...subscription, license }, store.asking);
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

  it('asks for a collection as the documents do and reads the sample of an item', async () => {
    const request = sample('collections-v6-query.request');
    const store = microsoft({ [request.url]: sample('collections-v6-query.response') });
    const license = { storeIdKey_collections: keyOf('collections') };
    const validation = await storeC.validate(
      { id: 'consumable2', type: 'consumable', transaction: { type: 'store_c-transaction' }, license },
      store.asking,
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
    const asked = store.asked.find(({ url }) => url === request.url);
    const { beneficiaries, ...rest } = bodyOf(asked ?? { init: {} });
    expect(Object.keys(request.body)).toEqual(expect.arrayContaining(Object.keys(rest)));
    const lowerCase = (names: object): string[] =>
      Object.keys(names)
        .map((name) => name.toLowerCase())
        .sort();
    expect(lowerCase(beneficiaries[0])).toEqual(lowerCase(request.body.beneficiaries[0]));
  });

  it('renews a key as the documents do', async () => {
    const request = sample('keys-renew');
    const renewed = keyOf('collections', startTime + 30 * 86_400_000);
    const store = microsoft({ [request.url]: { body: { ...request.response.body, key: renewed } } });
    const old = keyOf('collections', startTime + 86_400_000);
    const token = await renewKeys(createSession(store.asking), { collectionsKey: old, productId: '9NBLGGH5WVP6' });
    expect(token.collectionsKey).toBe(renewed);
    const names = Object.keys(bodyOf(store.asked.at(-1) ?? { init: {} })).map((name) => name.toLowerCase());
    expect(names).toEqual(Object.keys(request.body).map((name) => name.toLowerCase()));
  });
});
