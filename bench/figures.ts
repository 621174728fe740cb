import { dayMs } from '../lib/foundation/time.ts';
import type { BenchResult } from './bench-result.ts';
import { loadLists } from './load-lists.ts';
import { measureCalls, withTestService } from './with-test-service.ts';

const runs = 7;
const products = 20;

/** Target of the median time of each request. */
const maxMs = 1_000;

const toDay = (date: number): string => new Date(date).toISOString().slice(0, 10);

/**
 * Measures the figures of the last year by product with 200,000 transactions: read units without the event of the
 * request, and the median time.
 */
export const benchFigures = async (): Promise<BenchResult> =>
  await withTestService(async (service) => {
    const { appName, secretKey } = await service.createApp([]);
    const startedAt = performance.now();
    await loadLists(appName, { products, hasFigures: true });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
    const { getChurn, getMrr } = await import('../lib/statistics/mrr-contract.ts');
    const { getConversion, getLtv, getRetention } = await import('../lib/statistics/cohort-contract.ts');
    const range = { startdate: toDay(Date.now() - 364 * dayMs), enddate: toDay(Date.now()) };
    const rows = [];
    for (const contract of [getMrr, getChurn, getRetention, getLtv, getConversion]) {
      for (const query of [range, { ...range, by: 'product', limit: String(products) }]) {
        const read = () => callEndpoint(contract, { headers: buildBasicAuth(appName, secretKey), query });
        const { result, 'read units': reads, 'median ms': ms } = await measureCalls(read, runs);
        const groups = result.body.groups?.length ?? 0;
        const isWithinLimit = ms < maxMs ? 'yes' : 'no';
        rows.push({
          figure: contract.path,
          products: groups,
          'read units': reads,
          'median ms': ms,
          'within 1 s': isWithinLimit,
        });
      }
    }
    return {
      title: `Figures of a year of 200,000 transactions and 20,000 customers (loaded in ${seconds} s)`,
      rows,
    };
  });
