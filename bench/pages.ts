import type { BenchResult } from './bench-result.ts';
import { loadLists } from './load-lists.ts';
import { measureCalls, withTestService } from './with-test-service.ts';

const runs = 7;

/**
 * Measures pages of 100 rows at both ends of long lists: read units without the event of the request, and the median
 * time. The aggregator counts the lists from generated stream records.
 */
export const benchPages = async (): Promise<BenchResult> =>
  await withTestService(async (service) => {
    const keys = await service.createApp([]);
    const startedAt = performance.now();
    await loadLists(keys.appName);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return {
      title: `A page of 100 of 200,000 transactions, 50,000 purchases, 20,000 customers (loaded in ${seconds} s)`,
      rows: await measurePages(keys),
    };
  });

async function measurePages({ appName, secretKey }: { readonly appName: string; readonly secretKey: string }) {
  const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
  const { listCustomers } = await import('../lib/customers/contract.ts');
  const { listPurchases } = await import('../lib/purchases/contract.ts');
  const { listTransactions } = await import('../lib/purchases/transaction-contract.ts');
  const headers = buildBasicAuth(appName, secretKey);
  const lists = [
    { contract: listTransactions, skips: [0, 1_000, 100_000, 190_000] },
    { contract: listPurchases, skips: [0, 45_000] },
    { contract: listCustomers, skips: [0, 19_000] },
  ];
  const rows = [];
  for (const { contract, skips } of lists) {
    for (const skip of skips) {
      const page = () => callEndpoint(contract, { headers, query: { skip: String(skip) } });
      rows.push({ list: contract.path, skip, ...(await measurePage(page)) });
    }
  }
  return rows;
}

async function measurePage(run: () => Promise<{ readonly body: { readonly rows: readonly unknown[] } }>) {
  const { result, 'read units': reads, 'median ms': ms } = await measureCalls(run, runs);
  return { rows: result.body.rows.length, 'read units': reads, 'median ms': ms };
}
