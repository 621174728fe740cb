import { startDynamoDbLocal } from '../local/dynamodb-local.ts';
import type { BenchResult } from './bench-result.ts';
import { loadLists } from './load-lists.ts';

const runs = 7;

/**
 * Measures pages of 100 rows at both ends of long lists: read units without the event of the request, and the median time.
 * The aggregator counts the lists from generated stream records.
 */
export async function benchPages(): Promise<BenchResult> {
  const engine = await startDynamoDbLocal();
  process.env.DYNAMODB_ENDPOINT = engine.endpoint;
  const { startTestService } = await import('../testing/service.ts');
  const service = await startTestService();
  try {
    const keys = await service.createApp([]);
    const startedAt = performance.now();
    await loadLists(keys.appName);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return {
      title: `A page of 100 of 200,000 transactions, 50,000 purchases, 20,000 customers (loaded in ${seconds} s)`,
      rows: await measurePages(keys),
    };
  } finally {
    await service.close();
    await engine.close();
  }
}

async function measurePages({ appName, secretKey }: { readonly appName: string; readonly secretKey: string }) {
  const { buildBasicAuth, callEndpoint } = await import('../testing/call.ts');
  const { listCustomers } = await import('../lib/api/customers.ts');
  const { listPurchases } = await import('../lib/api/purchases.ts');
  const { listTransactions } = await import('../lib/api/transactions.ts');
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
  const { deps } = await import('../lib/deps.ts');
  const { consumed } = deps().table;
  await run();
  const timesMs: number[] = [];
  const before = consumed.read;
  let rows = 0;
  for (let time = 0; time < runs; time++) {
    const startedAt = performance.now();
    rows = (await run()).body.rows.length;
    timesMs.push(performance.now() - startedAt);
  }
  const median = timesMs.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0;
  return { rows, 'read units': (consumed.read - before) / runs, 'median ms': Math.round(median) };
}
