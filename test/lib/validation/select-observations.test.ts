import { beforeAll, describe, expect, it } from '@jest/globals';
import type { App, Strategy } from '../../../lib/apps/app.ts';
import { findCachedApp } from '../../../lib/apps/app-table.ts';
import { setExchangeRates } from '../../../lib/apps/manage-apps.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { AppExchangeRates } from '../../../lib/money/rates.ts';
import { addErasedNames } from '../../../lib/purchases/erased-name-table.ts';
import type { Observation } from '../../../lib/purchases/observation.ts';
import type { Purchase } from '../../../lib/purchases/purchase.ts';
import { selectObservations } from '../../../lib/validation/select-observations.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { createTestTable } from '../../../testing/table.ts';

let service: Service;
beforeAll(async () => {
  service = createService(await createTestTable());
});

const observe = (number: number, at = startDate, changes: Partial<Purchase> = {}): Observation => {
  const id = `store_a:${number}`;
  const bought = { purchaseId: id, transactionId: id, productId: 'store_a:coins', productType: 'consumable' } as const;
  return { ...createObservation({ ...bought, currency: 'EUR', ...changes }), asOf: at };
};

interface StoredOptions {
  readonly strategy: Strategy;
  readonly exchangeRates?: AppExchangeRates;
  readonly erasedNames?: readonly string[];
}

async function givenStored(
  observations: readonly Observation[],
  { strategy, exchangeRates = [], erasedNames = [] }: StoredOptions,
) {
  const keys = await givenApp(service.table);
  await setExchangeRates(service, keys.appName, exchangeRates);
  if (erasedNames.length > 0) await addErasedNames(service, keys.appName, erasedNames);
  const app: App = { ...((await findCachedApp(service, keys.appName)) as App), strategy };
  const record = async (observation: Observation, username: string) =>
    await recordObservation(service, app.name, { username, observation, strategy });
  for (const observation of observations) await record(observation, 'ann');
  const select = async (observed: readonly Observation[], username = 'ann', listedId = '') => {
    const ids = observed.map(({ purchase }) => purchase.purchaseId);
    const unlistedPurchaseIds = ids.filter((id) => id !== listedId);
    const { observations: selected } = await selectObservations({ app, service }, observed, {
      username,
      unlistedPurchaseIds,
    });
    return selected.map(({ purchase }) => purchase.purchaseId);
  };
  return { record, select };
}

describe('selectObservations', () => {
  it('leaves out unlisted purchases that did not change, however old their state is', async () => {
    const { select } = await givenStored([observe(1), observe(2)], { strategy: 'all' });
    const later = [observe(1, startDate + 90 * dayMs), observe(2, startDate + 90 * dayMs)];
    expect(await select(later)).toEqual([]);
    expect(await select(later, 'ann', 'store_a:2')).toEqual(['store_a:2']);
  });

  it('leaves out payments that are stored with a rate of the app', async () => {
    const exchangeRates = [{ currency: 'AED', from: '2020-01-01', perUSD: '3.9' }];
    const { transactions, ...observation } = observe(1);
    const payment = { ...observation, transactions: transactions.map((paid) => ({ ...paid, currency: 'AED' })) };
    const { select } = await givenStored([payment], { strategy: 'all', exchangeRates });
    expect(await select([payment])).toEqual([]);
  });

  it('leaves out payments whose user alias was erased', async () => {
    const named = { ...observe(1), userAliases: ['account-token'] };
    const { select } = await givenStored([named], { strategy: 'all', erasedNames: ['account-token'] });
    expect(await select([named])).toEqual([]);
  });

  it('selects refunds, partial refunds, aliases and refresh tokens of stored purchases', async () => {
    const { select } = await givenStored(
      [1, 2, 3, 4, 5].map((number) => observe(number)),
      { strategy: 'all' },
    );
    const at = startDate + dayMs;
    const partlyRefunded = observe(2, at);
    const observed: Observation[] = [
      observe(1, at, { endedAt: at, cancelationReason: 'Customer' }),
      {
        ...partlyRefunded,
        transactions: partlyRefunded.transactions.map((transaction) => ({
          ...transaction,
          partialRefunds: [{ id: 'revocation', date: at }],
        })),
      },
      { ...observe(3, at), userAliases: ['alias'] },
      { ...observe(4, at), refreshToken: { token: 'secret' } },
      observe(5, at),
    ];
    expect(await select(observed)).toEqual(['store_a:1', 'store_a:2', 'store_a:3', 'store_a:4']);
  });

  it('selects new purchases before those without a claim of the customer, at most 100', async () => {
    const stored = [1, 2, 3].map((number) => observe(number));
    const { select } = await givenStored(stored, { strategy: 'all' });
    const added = Array.from({ length: 99 }, (_, index) => observe(100 + index));
    const selected = await select([...stored, ...added], 'bob');
    expect(selected).toHaveLength(100);
    expect(selected.slice(0, 2)).toEqual(['store_a:1', 'store_a:100']);
    expect(selected).not.toContain('store_a:2');
  });

  it.each([
    ['all', []],
    ['first', []],
    ['last', ['store_a:1']],
  ] as const)('selects a claimed purchase only if a further claim entitles (%s)', async (strategy, expected) => {
    const { record, select } = await givenStored([observe(1)], { strategy });
    expect(await select([observe(1)], 'bob')).toEqual(['store_a:1']);
    await record(observe(1), 'bob');
    if (strategy === 'last') await record(observe(1), 'ann');
    expect(await select([observe(1)], 'bob')).toEqual(expected);
  });
});
