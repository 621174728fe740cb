import { beforeAll, describe, expect, it } from '@jest/globals';
import { listCustomers } from '../../lib/api/customers.ts';
import { listPurchases } from '../../lib/api/purchases.ts';
import { getAppStats, getStats, getStatsV2 } from '../../lib/api/stats.ts';
import { listTransactions } from '../../lib/api/transactions.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import type { Table } from '../../lib/db/table.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createObservation, createTransaction, dayMs, givenApp } from '../../testing/given.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { createTestTable } from '../../testing/table.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
  process.env.MASTER_KEY_ID = 'unused';
});

const secret = ({ appName, secretKey }: IssuedApiKeys) => buildBasicAuth(appName, secretKey);
const boughtAt = Math.floor(Date.now() / 1000) * 1000 - 3 * dayMs;

/** A user's purchase of three days ago, worth `amountMicros`. */
async function givenPaid({ appName }: IssuedApiKeys, username: string, amountMicros = 4_990_000): Promise<void> {
  const { purchase } = createObservation({ purchaseDate: boughtAt, expirationDate: boughtAt + 30 * dayMs });
  const transactions = [createTransaction(purchase, { amountMicros })];
  await givenPurchase(appName, username, { asOf: boughtAt, purchase, transactions, userAliases: [] });
}

const dayOfPurchase = new Date(boughtAt).toISOString().slice(0, 10);

describe('the lists of an application', () => {
  it('show a customer with the summary of the last purchase', async () => {
    const keys = await givenApp(table);
    await givenPaid(keys, 'ann');
    const { body } = await callEndpoint(listCustomers, { headers: secret(keys) });
    expect(body).toMatchObject({
      paging: { skip: 0, limit: 100, total: 1 },
      rows: [{ applicationUsername: 'ann', customerInfo: { activeSubscriber: true, lapsedSubscriber: false } }],
    });
  });

  it.each(['100%25,bob%20kal,alice', '100%2525,bob%2520kal,alice', '100%252525%2Cbob%252520kal%2Calice'])(
    'find customers by names that are sent as %s',
    async (sent) => {
      const keys = await givenApp(table);
      for (const name of ['alice', 'bob kal', '100%', 'eve']) await givenPaid(keys, name);
      // The gateway decodes a query once.
      const query = { applicationUsername: decodeURIComponent(sent) };
      const { body } = await callEndpoint(listCustomers, { headers: secret(keys), query });
      expect(body.rows.map((row: { applicationUsername: string }) => row.applicationUsername)).toEqual([
        '100%',
        'bob kal',
        'alice',
      ]);
    },
  );

  it.each(['Smith%2C%20John', 'Smith%252C%2520John'])(
    'find the customer whose name has a comma when it is sent as %s',
    async (sent) => {
      const keys = await givenApp(table);
      for (const name of ['Smith, John', 'ann']) await givenPaid(keys, name);
      const query = { applicationUsername: decodeURIComponent(sent) };
      const { body } = await callEndpoint(listCustomers, { headers: secret(keys), query });
      expect(body).toMatchObject({ paging: { total: 1 }, rows: [{ applicationUsername: 'Smith, John' }] });
    },
  );

  it.each([
    ['a name that is too long', 'x'.repeat(901)],
    ['one that is longer than any key, among others', `ann,${'x'.repeat(2_100)}`],
  ])('refuse %s', async (_what, applicationUsername) => {
    const headers = secret(await givenApp(table));
    const response = await callEndpoint(listCustomers, { headers, query: { applicationUsername } });
    expect(response).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  });

  it('show purchases with their users, by creation or by their last change', async () => {
    const keys = await givenApp(table);
    await givenPaid(keys, 'ann');
    const list = async (query: Record<string, string>) =>
      (await callEndpoint(listPurchases, { headers: secret(keys), query })).body;
    const today = new Date().toISOString().slice(0, 10);
    expect((await list({})).rows).toMatchObject([{ purchaseId: 'store_a:1', entitledUsers: ['ann'] }]);
    expect((await list({ startdate: today, limit: '1', skip: '5', include_notifications: 'true' })).rows).toMatchObject(
      [{ purchaseId: 'store_a:1', notifications: [{ reason: 'PURCHASED' }] }],
    );
    expect((await list({ enddate: today })).rows).toEqual([]);
    expect((await list({ offset: '1' })).rows).toEqual([]);
  });

  it('show transactions between the dates of their purchases', async () => {
    const keys = await givenApp(table);
    await givenPaid(keys, 'ann');
    const list = async (query: Record<string, string>) =>
      (await callEndpoint(listTransactions, { headers: secret(keys), query })).body.rows;
    const moment = new Date(boughtAt).toISOString();
    expect(await list({ startdate: moment })).toMatchObject([{ transactionId: 'store_a:1', amountUSD: 4.99 }]);
    expect(await list({ enddate: moment })).toEqual([]);
  });
});

describe('the statistics of an application', () => {
  it('tell the money and the transactions of a day', async () => {
    const keys = await givenApp(table);
    await givenPaid(keys, 'ann');
    const query = { startdate: dayOfPurchase, enddate: dayOfPurchase, include_notifications: 'true' };
    const { body } = await callEndpoint(getStats, { headers: secret(keys), query });
    expect(body.dailyStats).toMatchObject([
      { date: dayOfPurchase, amountUSD: 4.99, amountMicros: { USD: 4_990_000 }, numPaidTransactions: 1 },
    ]);
    expect(body.monthlyStats).toMatchObject([{ date: dayOfPurchase.slice(0, 7), amountUSD: 4.99, numTransactions: 1 }]);
  });

  it('are told in the words of version 2, too', async () => {
    const keys = await givenApp(table);
    await givenPaid(keys, 'ann');
    const { body } = await callEndpoint(getStatsV2, { headers: secret(keys) });
    expect(body.dailyStats).toContainEqual(
      expect.objectContaining({ date: dayOfPurchase.replaceAll('-', ''), amountUSD: 4.99, numTransactions: 1 }),
    );
    expect(body.monthlyStats).toEqual({ amountUSD: 4.99, numTransactions: 1 });
  });

  it('are not told to the key of another application', async () => {
    const [keys, other] = [await givenApp(table), await givenApp(table)];
    const own = await callEndpoint(getAppStats, { headers: secret(keys), params: { appName: keys.appName } });
    const foreign = await callEndpoint(getAppStats, { headers: secret(keys), params: { appName: other.appName } });
    expect([own.status, foreign.status]).toEqual([200, 403]);
  });
});
