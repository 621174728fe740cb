import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';
import {
  collectionsHost,
  decodePayload,
  onestoreUrl,
  purchaseHost,
  type StoreCClient,
  startStoreCClient,
} from '../emulator/store-c-client-app.ts';

const sample = (name: string) => JSON.parse(readVector('microsoft/docs-samples', `${name}.json`).toString('utf8'));

const names = (record: object): string[] => Object.keys(record).sort();
const pathOf = (url: string): string => new URL(url).pathname;

describeWithVectors("the emulator against Microsoft's published samples", () => {
  let user: StoreCClient;
  beforeAll(async () => {
    user = await startStoreCClient();
  });
  afterAll(() => user.close());

  it('answers the token request with the members of the sample', async () => {
    const { form, response } = sample('token.request');
    const { body } = await user.entra({ resource: form.resource });
    expect(names(body)).toEqual(names(response));
    for (const [name, value] of Object.entries(response)) expect(typeof body[name]).toBe(typeof value);
  });

  it('makes keys with the claims of the sample', async () => {
    const { header, claims } = sample('store-id-key-claims');
    const { id } = (await user.buy({ productId: 'claims' })).body;
    const key = await user.key('collections', id);
    expect(names(decodePayload(key))).toEqual(names(claims));
    const head = JSON.parse(Buffer.from(key.split('.')[0] ?? '', 'base64url').toString());
    expect(names(head)).toEqual(names(header));
    expect(decodePayload(key)).toMatchObject({ iss: claims.iss, aud: claims.aud });
    expect(head).toMatchObject({ typ: 'JWT', alg: 'RS256' });
  });

  it('takes the query of the sample and answers with the members of its item', async () => {
    const { url, body } = sample('collections-v6-query.request');
    const [item] = sample('collections-v6-query.response').body.items;
    const { productId } = body.productSkuIds[0];
    const { id } = (await user.buy({ productId, type: 'consumable' })).body;
    const beneficiaries = [{ ...body.beneficiaries[0], identityValue: await user.key('collections', id) }];
    const result = await user.post(collectionsHost, pathOf(url), { ...body, beneficiaries });
    expect(result.status).toBe(200);
    expect(result.body.items).toMatchObject([{ itemId: id, productId, productType: 'UnmanagedConsumable' }]);
    const { devOfferId: _legacy, ...members } = item;
    expect(names(result.body.items[0])).toEqual(names(members));
  });

  it('takes the consumption of the sample', async () => {
    const { url, body, response } = sample('collections-v6-consume.request');
    const { id } = (await user.buy({ productId: 'to consume', type: 'consumable' })).body;
    const identity = { ...body.beneficiary, identityValue: await user.key('collections', id) };
    const result = await user.post(collectionsHost, pathOf(url), { ...body, beneficiary: identity, itemId: id });
    expect(result.status).toBe(response.status);
    expect((await user.items(id, 'to consume')).body.items).toEqual([]);
  });

  it('answers the subscriptions with the members of the sample', async () => {
    const [item] = sample('recurrences-v8-query.response').body.items;
    const { id } = (await user.buy({ productId: item.productId })).body;
    const [shown] = (await user.recurrences(id)).body.items;
    expect(names(shown)).toEqual(expect.arrayContaining(names(item)));
    expect(shown.id).toMatch(/^mdr:0:[\da-f]{32}:[\da-f-]{36}$/);
    expect(shown.expirationTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}\+00:00$/);
  });

  it('extends a subscription as the sample asks', async () => {
    const { url, body } = sample('recurrences-v8-change-extend.request');
    const { id } = (await user.buy({ productId: 'extended' })).body;
    const path = pathOf(url).replace(/recurrences\/[^/]+/, `recurrences/${id}`);
    const result = await user.post(purchaseHost, path, { ...body, b2bKey: await user.key('purchase', id) });
    expect(result).toMatchObject({ status: 200, body: { id, expirationTime: '2027-03-05T10:00:00.0000000+00:00' } });
  });

  it('renews a key as the sample asks', async () => {
    const { url, body, response } = sample('keys-renew');
    const { id } = (await user.buy({ productId: 'renewed' })).body;
    const result = await user.post(collectionsHost, pathOf(url), {
      ...body,
      serviceTicket: await user.token(onestoreUrl),
      Key: await user.key('collections', id),
    });
    expect(result.status).toBe(response.status);
    expect(names(result.body)).toEqual(names(response.body));
  });
});
