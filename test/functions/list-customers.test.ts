import { beforeAll, describe, expect, it } from '@jest/globals';
import { listCustomers } from '../../lib/customers/contract.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { givenApp } from '../../testing/given-app.ts';
import { createTestTable } from '../../testing/table.ts';
import { givenPaidPurchase } from './purchase-fixture.ts';

let table: Table;
beforeAll(async () => {
  table = await createTestTable();
});

describe('GET /v3/customers', () => {
  it('returns a customer with the summary of the last purchase', async () => {
    const keys = await givenApp(table);
    await givenPaidPurchase(keys, 'ann');
    const { body } = await callWithSecretKey(listCustomers, keys);
    expect(body).toMatchObject({
      paging: { skip: 0, limit: 100, total: 1 },
      rows: [{ applicationUsername: 'ann', customerInfo: { activeSubscriber: true, lapsedSubscriber: false } }],
    });
  });

  it.each(['100%25,bob%20kal,alice', '100%2525,bob%2520kal,alice', '100%252525%2Cbob%252520kal%2Calice'])(
    'finds customers by the encoded usernames %s',
    async (encoded) => {
      const keys = await givenApp(table);
      for (const name of ['alice', 'bob kal', '100%', 'eve']) await givenPaidPurchase(keys, name);
      // API Gateway decodes a query once.
      const query = { applicationUsername: decodeURIComponent(encoded) };
      const { body } = await callWithSecretKey(listCustomers, keys, { query });
      expect(body.rows.map((row: { applicationUsername: string }) => row.applicationUsername)).toEqual([
        '100%',
        'bob kal',
        'alice',
      ]);
    },
  );

  it.each(['Smith%2C%20John', 'Smith%252C%2520John'])(
    'finds the customer whose username contains a comma by %s',
    async (encoded) => {
      const keys = await givenApp(table);
      for (const name of ['Smith, John', 'ann']) await givenPaidPurchase(keys, name);
      const query = { applicationUsername: decodeURIComponent(encoded) };
      const { body } = await callWithSecretKey(listCustomers, keys, { query });
      expect(body).toMatchObject({ paging: { total: 1 }, rows: [{ applicationUsername: 'Smith, John' }] });
    },
  );

  it.each([
    ['a username that is too long', 'x'.repeat(901)],
    ['a list with a username longer than any key', `ann,${'x'.repeat(2_100)}`],
  ])('rejects %s', async (_description, applicationUsername) => {
    const response = await callWithSecretKey(listCustomers, await givenApp(table), { query: { applicationUsername } });
    expect(response).toMatchObject({ status: 400, body: { code: 'InvalidPayload' } });
  });
});
