import { expect, it } from '@jest/globals';
import {
  collectionsHost,
  decodePayload,
  onestoreUrl,
  purchaseHost,
  startMicrosoftStoreClient,
} from '../../emulator/test/microsoft-store-client-app.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';

const readSample = (name: string) => JSON.parse(readVector('microsoft/docs-samples', `${name}.json`).toString('utf8'));

const listNames = (record: object): string[] => Object.keys(record).sort();
const getPath = (url: string): string => new URL(url).pathname;

describeWithVectors("store_c emulator with Microsoft's published samples", () => {
  const user = startBeforeAll(startMicrosoftStoreClient);

  it('responds to the token request with the members of the sample', async () => {
    const { form, response } = readSample('token.request');
    const { body } = await user.entra({ resource: form.resource });
    expect(listNames(body)).toEqual(listNames(response));
    for (const [name, value] of Object.entries(response)) expect(typeof body[name]).toBe(typeof value);
  });

  it('creates keys with the claims of the sample', async () => {
    const { header, claims } = readSample('store-id-key-claims');
    const { id } = (await user.buy({ productId: 'claims' })).body;
    const key = await user.key('collections', id);
    expect(listNames(decodePayload(key))).toEqual(listNames(claims));
    const keyHeader = JSON.parse(Buffer.from(key.split('.')[0] ?? '', 'base64url').toString());
    expect(listNames(keyHeader)).toEqual(listNames(header));
    expect(decodePayload(key)).toMatchObject({ iss: claims.iss, aud: claims.aud });
    expect(keyHeader).toMatchObject({ typ: 'JWT', alg: 'RS256' });
  });

  it('accepts the query of the sample and returns the members of its item', async () => {
    const { url, body } = readSample('collections-v6-query.request');
    const [item] = readSample('collections-v6-query.response').body.items;
    const { productId } = body.productSkuIds[0];
    const { id } = (await user.buy({ productId, type: 'consumable' })).body;
    const beneficiaries = [{ ...body.beneficiaries[0], identityValue: await user.key('collections', id) }];
    const result = await user.post(collectionsHost, getPath(url), { ...body, beneficiaries });
    expect(result.status).toBe(200);
    expect(result.body.items).toMatchObject([{ itemId: id, productId, productType: 'UnmanagedConsumable' }]);
    const { devOfferId: _legacy, ...members } = item;
    expect(listNames(result.body.items[0])).toEqual(listNames(members));
  });

  it('accepts the consume request of the sample', async () => {
    const { url, body, response } = readSample('collections-v6-consume.request');
    const { id } = (await user.buy({ productId: 'to consume', type: 'consumable' })).body;
    const identity = { ...body.beneficiary, identityValue: await user.key('collections', id) };
    const result = await user.post(collectionsHost, getPath(url), { ...body, beneficiary: identity, itemId: id });
    expect(result.status).toBe(response.status);
    expect((await user.items(id, 'to consume')).body.items).toEqual([]);
  });

  it('returns subscriptions with the members of the sample', async () => {
    const [item] = readSample('recurrences-v8-query.response').body.items;
    const { id } = (await user.buy({ productId: item.productId })).body;
    const [recurrence] = (await user.recurrences(id)).body.items;
    expect(listNames(recurrence)).toEqual(expect.arrayContaining(listNames(item)));
    expect(recurrence.id).toMatch(/^mdr:0:[\da-f]{32}:[\da-f-]{36}$/);
    expect(recurrence.expirationTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}\+00:00$/);
  });

  it('extends a subscription for the request of the sample', async () => {
    const { url, body } = readSample('recurrences-v8-change-extend.request');
    const { id } = (await user.buy({ productId: 'extended' })).body;
    const path = getPath(url).replace(/recurrences\/[^/]+/, `recurrences/${id}`);
    const result = await user.post(purchaseHost, path, { ...body, b2bKey: await user.key('purchase', id) });
    expect(result).toMatchObject({ status: 200, body: { id, expirationTime: '2027-03-05T10:00:00.0000000+00:00' } });
  });

  it('renews a key for the request of the sample', async () => {
    const { url, body, response } = readSample('keys-renew');
    const { id } = (await user.buy({ productId: 'renewed' })).body;
    const result = await user.post(collectionsHost, getPath(url), {
      ...body,
      serviceTicket: await user.token(onestoreUrl),
      Key: await user.key('collections', id),
    });
    expect(result.status).toBe(response.status);
    expect(listNames(result.body)).toEqual(listNames(response.body));
  });
});
