import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getCustomer } from '../../lib/api/customers.ts';
import { getEvent, searchEvents } from '../../lib/api/events.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { deps } from '../../lib/deps.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let keys: IssuedApiKeys;
beforeAll(async () => {
  service = await startTestService();
  keys = await service.createApp(['store_b']);
});
afterAll(() => service.close());

const headers = () => buildBasicAuth(keys.appName, keys.secretKey);
const buy = async (applicationUsername: string) => {
  const order = { platform: 'store_b', productId: 'premium', type: 'paid subscription', applicationUsername };
  const { id, validate } = await service.callControl('/purchases', order);
  expect((await service.validate(keys, validate)).body.ok).toBe(true);
  return { purchaseId: `store_b:${id}`, validate };
};
const search = async (tag: string) =>
  (await callEndpoint(searchEvents, { headers: headers(), params: { tag } })).body.rows;

it('a validation is found by its user, its purchase in both vocabularies and its transaction, and tells of them', async () => {
  const { purchaseId, validate } = await buy('ann');
  const [row] = await search('ann');
  expect(row.context).toMatchObject({
    eventType: 'receipt.validated',
    applicationUsername: 'ann',
    appName: keys.appName,
  });
  expect(row.content).toMatchObject({
    products: [{ id: validate.id, type: 'paid subscription' }],
    purchases: [{ purchaseId, productId: 'store_b:premium', platform: 'store_b' }],
    transactions: [{ purchaseId, platform: 'store_b', currency: 'USD' }],
    claims: [{ applicationUsername: 'ann', purchaseId }],
  });
  const [transaction] = row.content.transactions;
  expect(transaction.purchaseDate).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+\.000Z$/);
  const others = [purchaseId, purchaseId.replace('store_b', 'google'), transaction.transactionId];
  for (const tag of others) expect(await search(tag)).toMatchObject([{ tag, eventId: row.eventId }]);
});

it('the token of a purchase stays where it is the id of the purchase, and only there', async () => {
  const { purchaseId, validate } = await buy('bob');
  const { purchaseToken: token, receipt, signature } = validate.transaction;
  const [{ eventId: id }] = await search('bob');
  const { body } = await callEndpoint(getEvent, { headers: headers(), params: { id }, query: { receipts: 'true' } });
  const text = JSON.stringify(body);
  expect(text).toContain(purchaseId);
  const kept = text.replaceAll(`"${purchaseId}"`, '').replaceAll(`"purchaseId":"${token}"`, '');
  expect(kept).not.toContain(token);
  for (const secret of [receipt, signature])
    if (secret) expect(text).not.toContain(JSON.stringify(secret).slice(1, 40));
  expect(body.raw.externalRequests[0]).toMatchObject({
    type: expect.stringContaining('google'),
    response: { status: 200 },
  });
});

it('speaks brand to an application that does', async () => {
  const { purchaseId } = await buy('cher');
  const app = await deps().apps.find(keys.appName);
  if (!app) throw new Error('the application is missing');
  const other = await service.createApp(['store_b']);
  const record = await deps().apps.find(other.appName);
  if (!record) throw new Error('the application is missing');
  await deps().apps.update({ ...record, vocabulary: 'brand' });
  const order = {
    platform: 'store_b',
    productId: 'premium',
    type: 'paid subscription',
    applicationUsername: 'store_b:cher',
  };
  const { id, validate } = await service.callControl('/purchases', order);
  await service.validate(other, validate);
  const tag = `google:${id}`;
  const { body } = await callEndpoint(searchEvents, {
    headers: buildBasicAuth(other.appName, other.secretKey),
    params: { tag },
  });
  expect(body.rows).toMatchObject([
    { tag, type: '_P', content: { purchases: [{ purchaseId: tag, platform: 'google' }] } },
  ]);
  expect(body.rows[0].content.tags).toMatchObject({ [tag]: '_P', 'store_b:cher': '_A' });
  expect(purchaseId).not.toBe(`store_b:${id}`);
});

it('a customer comes with the latest ten events, newest first', async () => {
  const { purchaseId } = await buy('dan');
  for (let times = 0; times < 11; times++) await search('nobody');
  const ask = async () =>
    (await callEndpoint(getCustomer, { headers: headers(), params: { applicationUsername: 'dan' } })).body;
  expect((await ask()).events).toMatchObject([
    { eventInfo: { type: 'receipt.validated', purchaseIds: [purchaseId], response: { status: 200, ok: true } } },
  ]);
  for (let times = 0; times < 10; times++) await ask();
  const { events } = await ask();
  expect(events).toHaveLength(10);
  const dates = events.map(({ eventInfo }: { eventInfo: { date: string } }) => eventInfo.date);
  expect(dates).toEqual([...dates].sort().reverse());
});
