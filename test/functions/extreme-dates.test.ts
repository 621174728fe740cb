import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '../../lib/api/contract.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { listEvents } from '../../lib/events/contract.ts';
import { listPurchases } from '../../lib/purchases/contract.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createObservation } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { createTestTable } from '../../testing/table.ts';

const lists = [listPurchases, listTransactions, listEvents];

let keys: IssuedApiKeys;
beforeAll(async () => {
  keys = await givenApp(await createTestTable());
  await givenPurchase(keys.appName, 'ann', createObservation());
  // An event, so that the list of events is not empty.
  await ask(listPurchases, {});
});

const ask = async (contract: Contract, query: Record<string, string>) =>
  await callEndpoint(contract, { headers: buildBasicAuth(keys.appName, keys.secretKey), query });

/** Number of rows of a list. Each request adds an event. */
async function rowsOf(contract: Contract, query: Record<string, string>): Promise<number> {
  const { status, body } = await ask(contract, query);
  expect([status, body.message]).toEqual([200, undefined]);
  return body.rows.length;
}

describe.each(lists.map((contract) => [contract.id, contract] as const))('%s', (_id, contract) => {
  it.each([
    { enddate: '2262-04-11' },
    { enddate: '2286-11-21' },
    { enddate: '2300-01-01' },
    { enddate: '2999-12-31T23:59:59Z' },
    { startdate: '1960-01-01', enddate: '2300-01-01' },
    { startdate: '1000-01-01' },
  ])('returns the rows between extreme dates: %j', async (query) => {
    expect(await rowsOf(contract, query)).toBeGreaterThan(0);
  });

  it.each([
    { startdate: '1000-01-01', enddate: '1500-01-01' },
    { startdate: '1960-01-01', enddate: '1969-01-01' },
    { enddate: '1969-12-31' },
    { enddate: '1970-01-01' },
    { startdate: '2260-01-01' },
    { startdate: '2300-01-01' },
    { startdate: '2300-01-01', enddate: '2400-01-01' },
    { startdate: '2300-01-01', enddate: '1000-01-01' },
  ])('returns no rows for a period without data: %j', async (query) => {
    expect(await rowsOf(contract, query)).toBe(0);
    expect(await rowsOf(contract, { ...query, skip: '3', limit: '2' })).toBe(0);
  });
});
