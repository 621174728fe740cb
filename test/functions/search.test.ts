import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { search } from '../../lib/search/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { fetchEventList } from './event-fixture.ts';

const service = startBeforeAll(startTestService);
const keys = startBeforeAll(async () => await service.createApp(['store_b']));

const createUser = () => createUniqueName('Zoë & "co" #');

async function validate(user?: string): Promise<{ token: string; orderId: string }> {
  const order = {
    platform: 'store_b',
    productId: 'premium',
    type: 'paid subscription',
    ...(user && { applicationUsername: user }),
  };
  const { id, validate: body } = await service.callControl('/purchases', order);
  const response = await service.validate(keys, body);
  expect(response.body.ok).toBe(true);
  return { token: id, orderId: response.body.data.collection[0].transactionId };
}

// biome-ignore lint/suspicious/noExplicitAny: the test reads results of every shape.
const find = async (q: string, appKeys = keys): Promise<any[]> =>
  (await callWithSecretKey(search, appKeys, { query: { q } })).body.results;

describe('GET /v3/search', () => {
  it('finds a customer by name, and by the MD5 that a store has', async () => {
    const applicationUsername = createUser();
    await validate(applicationUsername);
    expect(await find(applicationUsername)).toEqual([{ type: 'customer', match: 'name', applicationUsername }]);
    const md5 = createHash('md5').update(applicationUsername).digest('hex');
    expect(await find(md5)).toEqual([{ type: 'customer', match: 'alias', applicationUsername }]);
  });

  it.each(['', 'store_b:', 'google:'])(
    'finds a purchase and a transaction by their ids with the prefix "%s"',
    async (prefix) => {
      const applicationUsername = createUser();
      const { token, orderId } = await validate(applicationUsername);
      const purchaseId = `store_b:${token}`;
      expect(await find(`${prefix}${token}`)).toMatchObject([
        { type: 'purchase', match: 'purchaseId', purchase: { purchaseId, entitledUsers: [applicationUsername] } },
      ]);
      expect(await find(` ${prefix}${orderId} `)).toMatchObject([
        { type: 'transaction', transaction: { transactionId: `store_b:${orderId}`, purchaseId } },
      ]);
    },
  );

  it('finds an event by its id', async () => {
    const { ids } = await fetchEventList(keys);
    expect(await find(ids[0] ?? '')).toEqual([{ type: 'event', eventId: ids[0] }]);
  });

  it.each([{}, { q: '' }, { q: '  ' }, { q: 'x'.repeat(901) }])('rejects %j', async (query) => {
    const response = await callWithSecretKey(search, keys, { query });
    expect(response).toMatchObject({ status: 400, body: { ok: false, code: 'InvalidPayload' } });
  });
});
