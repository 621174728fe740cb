import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { addCustomerPurchase } from '../../lib/customers/claim-contract.ts';
import {
  getCustomer,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTransactions,
  listCustomers,
} from '../../lib/customers/contract.ts';
import { searchEvents } from '../../lib/events/contract.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { buildBasicAuth, type CallOptions, callEndpoint } from '../../testing/call.ts';
import { createObservation } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { sampleItems } from '../../testing/sample.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const table = startBeforeAll(createTestTable);

const names = [
  'a/b',
  'what?',
  '?limit=1&skip=2#top',
  '50%',
  '%2F',
  '+',
  'a+b c',
  'Zoë 日本',
  '👩‍👩‍👧 😀',
  'a#b#c',
  'purchases',
  'error',
  'store_a:1',
  '__proto__',
  'constructor',
  '\u0000\u0001',
  'x'.repeat(900),
  '😀'.repeat(225),
];
const labelled = names.map((name) => [name.length > 100 ? `${name.slice(0, 4)}…` : name, name] as const);

const expirationDate = Date.now() + 30 * dayMs;
const buildObservation = (purchaseId: string) =>
  createObservation({ purchaseId, purchaseDate: Date.now(), expirationDate });

const createCaller =
  ({ appName, secretKey }: IssuedApiKeys) =>
  async (contract: Contract, options: CallOptions) => {
    const { status, body } = await callEndpoint(contract, { headers: buildBasicAuth(appName, secretKey), ...options });
    expect([status, body.message]).toEqual([200, undefined]);
    return body;
  };

/** Usernames similar to the tested ones, without purchases. */
const similarUsernames = ['a', 'b', '%', '/'];

describe.each(sampleItems(labelled, 6))('customer %s', (_label, name) => {
  let call: ReturnType<typeof createCaller>;
  let keys: IssuedApiKeys;
  beforeAll(async () => {
    keys = await givenApp(table);
    call = createCaller(keys);
    await givenPurchase(keys.appName, name, buildObservation('store_a:1'));
  });
  const params = { applicationUsername: name };

  it('gets its purchases from every customers path', async () => {
    const purchase = expect.objectContaining({ purchaseId: 'store_a:1', isExpired: false });
    const purchases = { 'store_a:monthly': purchase };
    const transactions = [expect.objectContaining({ purchaseId: 'store_a:1' })];
    const whole = await call(getCustomer, { params });
    expect(whole).toMatchObject({ ...params, purchases, transactions });
    expect(whole.customerInfo).toMatchObject({ lastPurchaseId: 'store_a:1', activeSubscriber: true });
    expect(await call(getCustomerPurchases, { params })).toEqual({ ...params, purchases });
    expect(await call(getCustomerSubscription, { params })).toEqual({ ...params, subscription: purchase });
    expect(await call(getCustomerTransactions, { params })).toEqual({ ...params, transactions });
  });

  it('appears in the list of customers and in a search by username', async () => {
    const row = { applicationUsername: name, customerInfo: expect.objectContaining({ activeSubscriber: true }) };
    expect((await call(listCustomers, {})).rows).toEqual([row]);
    const encoded = encodeURIComponent(name);
    expect((await call(listCustomers, { query: { applicationUsername: encoded } })).rows).toEqual([row]);
    expect((await call(listCustomers, { query: { applicationUsername: name } })).rows).toEqual([row]);
  });

  it('appears in the events and in a search by tag', async () => {
    await call(getCustomerPurchases, { params });
    const { events } = await call(getCustomer, { params });
    expect(events.length).toBeGreaterThan(0);
    const { rows } = await call(searchEvents, { params: { tag: name } });
    const contexts = rows.map(({ context }: { context: object }) => context);
    expect(contexts).toContainEqual(expect.objectContaining({ applicationUsername: name, eventType: 'customer.read' }));
  });

  it('accepts a link to a purchase without linking a similar username', async () => {
    await givenPurchase(keys.appName, 'owner', buildObservation('store_a:linked'));
    const body = { purchaseId: 'store_a:linked' };
    expect(await call(addCustomerPurchase, { params, body })).toMatchObject({ ok: true, ...params });
    const ids = (await call(getCustomerTransactions, { params })).transactions.map(
      ({ purchaseId }: { purchaseId: string }) => purchaseId,
    );
    expect(ids).toContain('store_a:linked');
    for (const other of similarUsernames) {
      const found = await call(getCustomerPurchases, { params: { applicationUsername: other } });
      expect(found.purchases).toEqual({});
    }
  });
});

it.each(['error', 'store_a:9'])('getCustomer for %s returns no events of other customers', async (name) => {
  const keys = await givenApp(table);
  const call = createCaller(keys);
  await givenPurchase(keys.appName, 'ann', buildObservation('store_a:9'));
  await call(getCustomerPurchases, { params: { applicationUsername: name } });
  const headers = buildBasicAuth(keys.appName, keys.secretKey);
  for (let time = 0; time < 12; time++) {
    await callEndpoint(getPurchase, { headers, params: { purchaseId: 'store_a:none' } });
    await callEndpoint(getPurchase, { headers, params: { purchaseId: 'store_a:9' } });
  }
  const { rows } = await call(searchEvents, { params: { tag: name } });
  expect(rows).toHaveLength(13);
  const { events } = await call(getCustomer, { params: { applicationUsername: name } });
  expect(events).toMatchObject([{ eventInfo: { type: 'customer.read', response: { ok: true } } }]);
});
