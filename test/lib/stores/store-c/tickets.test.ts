import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { decodePayload } from '../../../emulator/emulator-client.ts';
import { type Microsoft, useMicrosoft } from './fake-microsoft.ts';

let microsoft: Microsoft;
beforeAll(async () => {
  microsoft = await useMicrosoft();
});
afterAll(() => microsoft.close());

/** What a client does with a ticket: its device makes a StoreID key for the user. */
async function keyFor(ticket: { serviceTicketType: string; serviceTicket: string }, publisherUserId: string) {
  const body = JSON.stringify({ serviceTicket: ticket.serviceTicket, publisherUserId });
  const path = `/onestore.microsoft.com/b2b/keys/create/${ticket.serviceTicketType}`;
  return (await microsoft.call(path, { method: 'POST', body })).body.key;
}

describe('a client without StoreID keys', () => {
  test.each([
    ['paid subscription', 'purchase', 'storeIdKey_purchases'],
    ['paid subscription', 'purchase', 'storeIdKey_purchase'],
    ['non renewing subscription', 'collections', 'storeIdKey_collections'],
    ['consumable', 'collections', 'storeIdKey_collections'],
    ['non consumable', 'collections', 'storeIdKey_collections'],
  ])('gets a ticket for a %s, makes a %s key and sends it as %s', async (type, serviceTicketType, name) => {
    const productId = `${type} ${name}`;
    const { id } = await microsoft.bought({ type, productId, applicationUsername: name });
    const body = await microsoft.bodyOf(id, 'ticket');
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
    const validation = await microsoft.validate({ ...body, license: { [name]: await keyFor(data, name) } });
    expect(validation).toMatchObject({
      id: productId,
      about: 'product',
      purchaseId: `store_c:${id}`,
      observations: [{ userTokens: [name], purchase: { productType: type } }],
    });
  });

  it('is asked for both keys in turn when it calls a subscription something else', async () => {
    const { id } = await microsoft.bought({ productId: 'in turn', applicationUsername: 'in turn' });
    const { license, ...body } = { ...(await microsoft.bodyOf(id, 'both')), type: 'non consumable' as const };
    const needs = { code: 'NeedMoreData' };
    await expect(microsoft.validate(body)).rejects.toMatchObject({
      ...needs,
      data: { serviceTicketType: 'collections' },
    });
    const first = { storeIdKey_collections: license?.storeIdKey_collections ?? '' };
    await expect(microsoft.validate({ ...body, license: first })).rejects.toMatchObject({
      ...needs,
      data: { serviceTicketType: 'purchase' },
    });
    const both = { ...first, storeIdKey_purchases: license?.storeIdKey_purchases ?? '' };
    expect(await microsoft.validate({ ...body, license: both })).toMatchObject({ purchaseId: `store_c:${id}` });
  });

  it('hears its own word for the transaction', async () => {
    const { id } = await microsoft.bought({ productId: 'brand' });
    const { license: _keys, ...body } = await microsoft.bodyOf(id, 'brand');
    await expect(microsoft.validate(body)).rejects.toMatchObject({
      data: { transaction: { type: 'windows-store-transaction' } },
    });
    expect(await microsoft.validate(await microsoft.bodyOf(id, 'brand'))).toMatchObject({
      purchaseId: `store_c:${id}`,
    });
  });
});

describe('a StoreID key', () => {
  it('that has expired is answered with a ticket for a new one', async () => {
    const other = await useMicrosoft();
    const { body } = await other.bought({ autoRenew: true });
    await other.advance('P31D');
    await expect(other.validate(body)).rejects.toMatchObject({
      code: 'NeedMoreData',
      data: { serviceTicketType: 'purchase' },
    });
    await other.close();
  });

  it('that the store does not take is answered with a ticket for a new one', async () => {
    const { body } = await microsoft.bought({ productId: 'forged' });
    const forged = `${body.license?.storeIdKey_purchases?.slice(0, -8)}AAAAAAAA`;
    await expect(microsoft.validate({ ...body, license: { storeIdKey_purchases: forged } })).rejects.toMatchObject({
      code: 'NeedMoreData',
      data: { serviceTicketType: 'purchase' },
    });
  });

  it('that was made for another publisher, or another service, is refused', async () => {
    const other = await useMicrosoft();
    const [mine, theirs] = [await microsoft.bought({ productId: 'foreign' }), await other.bought()];
    await other.close();
    const swapped = { storeIdKey_collections: mine.body.license?.storeIdKey_purchases ?? '' };
    for (const license of [theirs.body.license ?? {}, swapped, { storeIdKey_purchases: 'no key' }]) {
      const before = microsoft.calls.length;
      await expect(microsoft.validate({ ...mine.body, license })).rejects.toMatchObject({ code: 'InvalidPayload' });
      expect(microsoft.calls).toHaveLength(before);
    }
  });

  it('keeps the name that it was made for, whoever sends it', async () => {
    const { body } = await microsoft.bought({ productId: 'named', applicationUsername: 'Ann' });
    const { observations } = await microsoft.validate({ ...body, applicationUsername: 'Bob' });
    expect(observations).toMatchObject([{ userTokens: ['Ann'] }]);
  });

  it('sends no call to an address that its claims name', async () => {
    const { body } = await microsoft.bought({ productId: 'addresses' });
    await microsoft.validate(body);
    const hosts = new Set(microsoft.calls.map(({ url }) => new URL(url).host));
    expect([...hosts].sort()).toEqual([
      'collections.mp.microsoft.com',
      'login.microsoftonline.com',
      'purchase.mp.microsoft.com',
    ]);
  });
});
