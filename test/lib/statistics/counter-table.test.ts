import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Service } from '../../../lib/foundation/service.ts';
import { incrementCounter, listCounterMonths } from '../../../lib/statistics/counter-table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName } from '../../../testing/given.ts';
import { createTestTable } from '../../../testing/table.ts';

let service: Service;
beforeAll(async () => {
  service = createService(await createTestTable());
});

const figures = { figures: 'platforms' } as const;

/** Counts two months. Only the second one has the sum `g.new`. */
async function givenCounters(): Promise<string> {
  const appName = createUniqueName('app');
  const position = { sequenceNumber: '1', writtenAt: 1 };
  const increment = async (period: string, counts: Readonly<Record<string, number>>) =>
    await incrementCounter(service, appName, { ...figures, period }, 'shard', [{ ...position, counts }]);
  await increment('2026-01', { 'm2026-01:a1': 1 });
  await increment('2026-02', { 'g.new': 5, 'm2026-01:a1': 2, left: 3 });
  return appName;
}

describe('listCounterMonths', () => {
  it('returns all sums of each period', async () => {
    expect(await listCounterMonths(service, await givenCounters(), '2026-01', '2026-02', figures)).toEqual([
      { period: '2026-01', counts: { 'm2026-01:a1': 1 }, version: 1 },
      { period: '2026-02', counts: { 'g.new': 5, 'm2026-01:a1': 2, left: 3 }, version: 1 },
    ]);
  });

  it('returns the cells of a product with their country, even of the last month', async () => {
    const appName = createUniqueName('app');
    const cells = { figures: 'cells', product: { platform: 'store_a', productId: 'store_a:gold' } } as const;
    for (const [period, country] of [
      ['2026-01', 'DE'],
      ['2026-01', 'US'],
      ['2026-02', 'ZZ'],
      ['2026-03', 'DE'],
    ] as const)
      await incrementCounter(service, appName, { ...cells, country, period }, 'shard', [
        { sequenceNumber: '1', writtenAt: 1, counts: { began: 1 } },
      ]);
    expect(await listCounterMonths(service, appName, '2026-01', '2026-02', cells)).toEqual([
      { period: '2026-01', country: 'DE', counts: { began: 1 }, version: 1 },
      { period: '2026-01', country: 'US', counts: { began: 1 }, version: 1 },
      { period: '2026-02', country: 'ZZ', counts: { began: 1 }, version: 1 },
    ]);
  });
});
