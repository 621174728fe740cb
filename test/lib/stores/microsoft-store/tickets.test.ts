import { describe, expect, it } from '@jest/globals';
import { decodePayload } from '../../../../emulator/test/emulator-client.ts';
import { getStoreKeys } from '../../../../testing/run-keys.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { startMicrosoft } from './fake-microsoft.ts';

const microsoft = startBeforeAll(startMicrosoft);

/** Creates a StoreID key like a client's device does with a service ticket. */
async function createKey(ticket: { serviceTicketType: string; serviceTicket: string }, publisherUserId: string) {
  const body = JSON.stringify({ serviceTicket: ticket.serviceTicket, publisherUserId });
  const path = `/onestore.microsoft.com/b2b/keys/create/${ticket.serviceTicketType}`;
  return (await microsoft.call(path, { method: 'POST', body })).body.key;
}

describe('validate (Microsoft Store) without a StoreID key', () => {
  it.each([
    ['paid subscription', 'purchase', 'storeIdKey_purchases'],
    ['paid subscription', 'purchase', 'storeIdKey_purchase'],
    ['non renewing subscription', 'collections', 'storeIdKey_collections'],
    ['consumable', 'collections', 'storeIdKey_collections'],
    ['non consumable', 'collections', 'storeIdKey_collections'],
  ])('returns a ticket for a %s and accepts its %s key as %s', async (type, serviceTicketType, name) => {
    const productId = `${type} ${name}`;
    const { id } = await microsoft.createPurchase({ type, productId, applicationUsername: name });
    const body = await microsoft.getRequest(id, 'ticket');
    const error = await microsoft.validate(body).catch((error: unknown) => error);
    const serviceTicket = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(error).toMatchObject({
      number: 6778006,
      status: 412,
      data: {
        serviceTicketType,
        serviceTicket,
        transaction: { type: 'store_c-transaction', serviceTicketType, serviceTicket },
      },
    });
    const { data } = error as { data: { serviceTicketType: string; serviceTicket: string } };
    expect(decodePayload(data.serviceTicket).aud).toBe(
      `https://onestore.microsoft.com/b2b/keys/create/${serviceTicketType}`,
    );
    const validation = await microsoft.validate({ ...body, license: { [name]: await createKey(data, name) } });
    expect(validation).toMatchObject({
      id: productId,
      scope: 'product',
      purchaseId: `store_c:${id}`,
      observations: [{ userAliases: [name], purchase: { productType: type } }],
    });
  });

  it('requires both keys in turn if the client sends another type for a subscription', async () => {
    const { id } = await microsoft.createPurchase({ productId: 'in turn', applicationUsername: 'in turn' });
    const { license, ...body } = { ...(await microsoft.getRequest(id, 'both')), type: 'non consumable' as const };
    const keyNeeded = { code: 'NeedMoreData' };
    await expect(microsoft.validate(body)).rejects.toMatchObject({
      ...keyNeeded,
      data: { serviceTicketType: 'collections' },
    });
    const first = { storeIdKey_collections: license?.storeIdKey_collections ?? '' };
    await expect(microsoft.validate({ ...body, license: first })).rejects.toMatchObject({
      ...keyNeeded,
      data: { serviceTicketType: 'purchase' },
    });
    const both = { ...first, storeIdKey_purchases: license?.storeIdKey_purchases ?? '' };
    expect(await microsoft.validate({ ...body, license: both })).toMatchObject({ purchaseId: `store_c:${id}` });
  });

  it("returns the client's own transaction type", async () => {
    const { id } = await microsoft.createPurchase({ productId: 'brand' });
    const { license: _keys, ...body } = await microsoft.getRequest(id, 'brand');
    await expect(microsoft.validate(body)).rejects.toMatchObject({
      data: { transaction: { type: 'windows-store-transaction' } },
    });
    expect(await microsoft.validate(await microsoft.getRequest(id, 'brand'))).toMatchObject({
      purchaseId: `store_c:${id}`,
    });
  });
});

describe('validate (Microsoft Store) with a StoreID key', () => {
  it('returns a ticket if the key has expired', async () => {
    const other = await startMicrosoft();
    const { body } = await other.createPurchase({ autoRenew: true });
    await other.advance('P31D');
    await expect(other.validate(body)).rejects.toMatchObject({
      code: 'NeedMoreData',
      data: { serviceTicketType: 'purchase' },
    });
    await other.close();
  });

  it('returns a ticket if the store rejects the key', async () => {
    const { body } = await microsoft.createPurchase({ productId: 'forged' });
    const forged = `${body.license?.storeIdKey_purchases?.slice(0, -8)}AAAAAAAA`;
    await expect(microsoft.validate({ ...body, license: { storeIdKey_purchases: forged } })).rejects.toMatchObject({
      code: 'NeedMoreData',
      data: { serviceTicketType: 'purchase' },
    });
  });

  it('rejects a key for a different publisher or service', async () => {
    const other = await startMicrosoft({ ...getStoreKeys(), store_c: undefined });
    const [own, foreign] = [await microsoft.createPurchase({ productId: 'foreign' }), await other.createPurchase()];
    await other.close();
    const swapped = { storeIdKey_collections: own.body.license?.storeIdKey_purchases ?? '' };
    for (const license of [foreign.body.license ?? {}, swapped, { storeIdKey_purchases: 'no key' }]) {
      const callCount = microsoft.calls.length;
      await expect(microsoft.validate({ ...own.body, license })).rejects.toMatchObject({ code: 'InvalidPayload' });
      expect(microsoft.calls).toHaveLength(callCount);
    }
  });

  it('returns the user id of the key as the alias', async () => {
    const { body } = await microsoft.createPurchase({ productId: 'named', applicationUsername: 'Ann' });
    const { observations } = await microsoft.validate({ ...body, applicationUsername: 'Bob' });
    expect(observations).toMatchObject([{ userAliases: ['Ann'] }]);
  });

  it('calls no URL from the claims of the key', async () => {
    const { body } = await microsoft.createPurchase({ productId: 'addresses' });
    await microsoft.validate(body);
    const hosts = new Set(microsoft.calls.map(({ url }) => new URL(url).host));
    expect([...hosts].sort()).toEqual([
      'collections.mp.microsoft.com',
      'login.microsoftonline.com',
      'purchase.mp.microsoft.com',
    ]);
  });
});
