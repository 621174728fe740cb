import { beforeAll, describe, expect, it } from '@jest/globals';
import { storeCatalogue } from '../../lib/apps/catalogue-table.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { listCustomers } from '../../lib/customers/contract.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Table } from '../../lib/foundation/table.ts';
import { dayMs } from '../../lib/foundation/time.ts';
import type { Purchase } from '../../lib/purchases/purchase.ts';
import type { Transaction } from '../../lib/purchases/transaction.ts';
import { listTransactions } from '../../lib/purchases/transaction-contract.ts';
import { search } from '../../lib/search/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { createObservation, createTransaction } from '../../testing/given.ts';
import { givenApp } from '../../testing/given-app.ts';
import { givenPurchase } from '../../testing/given-purchase.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';
import { paidAt } from './purchase-fixture.ts';

let keys: IssuedApiKeys;

interface Order {
  readonly user: string;
  readonly id: string;
  readonly state?: Partial<Purchase>;
  readonly payment?: Partial<Transaction>;
}

/** Customers with one purchase each, in this order. */
const orders: readonly Order[] = [
  { user: 'Alice', id: 'store_a:1' },
  { user: 'alicia', id: 'store_b:2', state: { productId: 'store_b:gold', platform: 'store_b', isTrialPeriod: true } },
  { user: 'bob', id: 'store_a:3', payment: { refundedAt: paidAt + dayMs } },
  { user: 'carl', id: 'store_a:4', state: { sandbox: true }, payment: { sandbox: true } },
  { user: 'dora', id: 'store_a:5', state: { expirationDate: paidAt + 1, renewalIntent: 'Lapse' } },
  { user: 'emil', id: 'store_a:6', state: { isBillingRetryPeriod: true } },
];

beforeAll(async () => {
  const table: Table = await createTestTable();
  keys = await givenApp(table);
  await storeCatalogue(getService(), keys.appName, {
    'store_b:gold': { type: 'paid subscription', entitlements: ['pro'] },
  });
  for (const [index, { user, id, state, payment }] of orders.entries()) {
    const observation = createObservation({
      purchaseId: id,
      transactionId: id,
      purchaseDate: paidAt + index,
      expirationDate: paidAt + 30 * dayMs,
      ...state,
    });
    const transactions = [createTransaction(observation.purchase, { amountMicros: 4_990_000, ...payment })];
    await givenPurchase(keys.appName, user, { ...observation, asOf: paidAt, transactions });
  }
});

interface Page {
  readonly rows: readonly {
    readonly transactionId: string;
    readonly applicationUsername: string;
    readonly entitledUsers?: readonly string[];
  }[];
  readonly nextCursor?: string;
}

/** Lists all pages, and returns the ids or names of the rows. */
async function listAll(
  contract: typeof listTransactions | typeof listCustomers,
  query: Record<string, string>,
): Promise<string[]> {
  const rows: Page['rows'][number][] = [];
  for (let cursor = ''; ; ) {
    const page: Page = (await callWithSecretKey(contract, keys, { query: { limit: '2', ...query, cursor } })).body;
    rows.push(...page.rows);
    if (page.nextCursor === undefined) break;
    cursor = page.nextCursor;
  }
  return rows.map(({ transactionId, applicationUsername }) => transactionId ?? applicationUsername);
}

const ids = orders.map(({ id }) => id);

describe('GET /v3/transactions', () => {
  it.each([
    ['the order', { order: 'newest' }, ids.toReversed()],
    ['the oldest first', { order: 'oldest' }, ids],
    ['a store', { platform: 'google', order: 'oldest' }, ['store_b:2']],
    ['a product', { productId: 'gold' }, ['store_b:2']],
    ['a product with its platform', { productId: 'google:gold' }, ['store_b:2']],
    ['refunds', { refunded: 'true' }, ['store_a:3']],
    ['payments without a refund', { refunded: 'false' }, ids.filter((id) => id !== 'store_a:3')],
    ['production', { sandbox: 'false' }, ids.filter((id) => id !== 'store_a:4')],
    ['a customer', { applicationUsername: 'bob' }, ['store_a:3']],
    ['a customer without a match', { applicationUsername: 'bob', refunded: 'false' }, []],
    ['an unknown customer', { applicationUsername: 'x' }, []],
  ])('filters by %s, page by page', async (_name, query, expected) => {
    expect(await listAll(listTransactions, query as Record<string, string>)).toEqual(expected);
  });

  it.each(['newest', 'oldest'])('filters by dates, the end excluded, %s first', async (order) => {
    const [startdate = '', enddate = ''] = [1, 3].map((offset) => new Date(paidAt + offset).toISOString());
    const expected = ['store_b:2', 'store_a:3'];
    const query = { order, startdate, enddate };
    expect(await listAll(listTransactions, query)).toEqual(order === 'newest' ? expected.toReversed() : expected);
    expect(await listAll(listTransactions, { ...query, applicationUsername: 'bob' })).toEqual(['store_a:3']);
    expect(await listAll(listTransactions, { ...query, applicationUsername: 'Alice' })).toEqual([]);
  });

  it('lists the owners of the purchase if they are requested', async () => {
    const { body } = await callWithSecretKey(listTransactions, keys, {
      query: { order: 'newest', limit: '1', include_customers: 'true' },
    });
    expect(body.rows).toMatchObject([{ transactionId: 'store_a:6', entitledUsers: ['emil'] }]);
  });
});

describe('GET /v3/customers', () => {
  const users = orders.map(({ user }) => user);

  it.each([
    ['the order', { order: 'newest' }, users.toReversed()],
    ['active subscriptions', { state: 'active' }, ['Alice', 'alicia', 'bob', 'carl', 'emil']],
    ['trials', { state: 'trial' }, ['alicia']],
    ['failed payments', { state: 'grace' }, ['emil']],
    ['lapsed subscriptions', { state: 'lapsed' }, ['dora']],
    ['the absence of a subscription', { state: 'none' }, []],
    ['a store and a state', { platform: 'store_b', state: 'lapsed' }, []],
    ['a product', { productId: 'gold' }, ['alicia']],
    ['an entitlement', { entitlement: 'pro' }, ['alicia']],
    ['an unknown entitlement', { entitlement: 'other' }, []],
    ['production', { sandbox: 'false' }, users.filter((user) => user !== 'carl')],
  ])('filters by %s, page by page', async (_name, query, expected) => {
    expect(await listAll(listCustomers, query as Record<string, string>)).toEqual(expected);
  });

  it('returns the payments of customers, less refunds and without sandbox purchases', async () => {
    const { body } = await callWithSecretKey(listCustomers, keys, {
      query: { applicationUsername: 'Alice,bob,carl', include_spend: 'true' },
    });
    const spend = body.rows.map((row: { readonly spend: { readonly amountUSD: number } }) => row.spend.amountUSD);
    expect(spend).toEqual([4.99, 0, 0]);
    expect(body.rows[0].createdAt).toMatch(/^\d{4}-/);
  });
});

describe('GET /v3/search', () => {
  const find = async (q: string) => (await callWithSecretKey(search, keys, { query: { q } })).body.results;

  it('finds customers by the beginning of the name, in any case, the exact name first', async () => {
    const names = async (q: string) =>
      (await find(q)).map(({ applicationUsername, match }: Record<string, string>) => [applicationUsername, match]);
    expect(await names('ALI')).toEqual([
      ['Alice', 'prefix'],
      ['alicia', 'prefix'],
    ]);
    expect(await names('alicia')).toEqual([['alicia', 'name']]);
    expect(await names('alice')).toEqual([['Alice', 'prefix']]);
    expect(await names('lice')).toEqual([]);
  });

  const words = ['no-access', 'Nora.Stripe@example.com', 'stripe-shop', 'ann@example.com', 'Мария Иванова'];
  const wordKeys = startBeforeAll(async () => await givenApp(getService().table));
  beforeAll(async () => {
    for (const [index, user] of words.entries())
      await givenPurchase(wordKeys.appName, user, createObservation({ purchaseId: `store_a:${index}` }));
  });

  it.each([
    ['access', ['no-access']],
    ['STRIPE', ['stripe-shop', 'Nora.Stripe@example.com']],
    ['stripe@ex', ['Nora.Stripe@example.com']],
    ['example', ['Nora.Stripe@example.com', 'ann@example.com']],
    ['Иванов', ['Мария Иванова']],
    ['ccess', []],
    ['com', []],
  ])('finds customers by another word of the name (%s), after those whose names begin with it', async (q, expected) => {
    const { body } = await callWithSecretKey(search, wordKeys, { query: { q } });
    expect(body.results.map(({ applicationUsername }: Record<string, string>) => applicationUsername)).toEqual(
      expected,
    );
    const found = body.results.filter(({ match }: Record<string, string>) => match === 'word');
    expect(found).toHaveLength(q === 'STRIPE' ? 1 : expected.length);
  });

  it('finds ids in another case', async () => {
    expect(await find('STORE_B:2')).toMatchObject([{ type: 'purchase' }, { type: 'transaction' }]);
  });
});
