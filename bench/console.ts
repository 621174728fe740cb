import { callLocalService } from '../testing/call-local.ts';
import { type RunningConsole, startConsole, waitUntilLoaded } from '../testing/open-console.ts';
import { createShowcase } from '../testing/showcase.ts';
import type { BenchResult } from './bench-result.ts';
import { loadedTransactions, putLists } from './load-lists.ts';
import { median } from './median.ts';
import { withTableEngine } from './with-test-service.ts';

const runs = 5;

const subscription = { platform: 'store_a', productId: 'premium', type: 'paid subscription', autoRenew: true };

const maxFirstContentMs = 1_000;

/** The pages without an id; the lists at both ends. */
const listPages = [
  '/',
  '/?period=12m',
  '/?by=product',
  '/revenue?by=product',
  '/revenue?platform=store_a&country=DE',
  '/revenue?tab=mrr&product=store_a:monthly&country=DE&by=country',
  '/subscriptions?period=30d',
  '/retention?by=product',
  '/retention?platform=store_a&country=DE',
  '/ltv',
  '/conversion?interval=week',
  '/customers',
  '/customers?q=alice',
  '/customers?q=user-1',
  '/customers?q=store_a:1000500',
  '/customers?order=oldest',
  '/customers?state=trial',
  '/customers?platform=processor_b',
  '/customers?state=active&platform=store_a',
  '/customers/alice',
  '/transactions',
  '/transactions?order=oldest',
  '/transactions?user=alice',
  '/transactions?platform=processor_b',
  '/transactions?refunded=true',
  '/transactions?product=other',
  '/transactions?platform=store_a&product=store_a:monthly',
  '/transactions?platform=processor_b&refunded=true',
  '/events',
  '/webhooks',
  '/stores',
  '/reference',
  '/emulator',
];

/**
 * Measures the pages of the console in Chromium on the machine of the service, with the lists of `npm run bench pages`:
 * first content, largest content, blocked time and layout shift as Lighthouse defines them, without throttling, and the
 * time until all data is shown. Each run opens a new tab without a cache.
 */
export const benchConsole = async (): Promise<BenchResult> =>
  // In memory, the engine exits while the aggregator reads the records of 200,000 transactions.
  await withTableEngine(measurePages, { hasStreams: true });

async function measurePages(endpoint: string): Promise<BenchResult> {
  // The service uses this table engine instead of starting one.
  process.env.DYNAMODB_ENDPOINT = endpoint;
  const running = await startConsole();
  try {
    const startedAt = performance.now();
    await createShowcase(running.service).buy('alice', subscription);
    await loadIntoService(running, endpoint);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const rows = [];
    for (const path of [...listPages, ...(await listDetailPages(running))])
      rows.push({ page: path, ...(await measurePage(running, path)) });
    const slow = rows.filter((row) => !(row['first content ms'] < maxFirstContentMs)).map(({ page }) => page);
    if (slow.length > 0) throw new Error(`The first content exceeds ${maxFirstContentMs} ms: ${slow.join(', ')}`);
    return { title: `Pages of the console with 200,000 transactions (loaded in ${seconds} s)`, rows };
  } finally {
    await running.close();
  }
}

/** Lists the pages of the showcase's purchase, of its latest event and of its first webhook. */
async function listDetailPages({ service }: RunningConsole): Promise<string[]> {
  const read = async (path: string) => (await callLocalService(service, path)).body.rows[0];
  const { purchaseId } = await read('/v3/purchases?customerId=alice');
  const { eventId } = await read('/v3/events?limit=1');
  const { deliveryId } = await read('/v3/webhooks/deliveries?limit=1');
  return [
    `/purchases/${encodeURIComponent(purchaseId)}`,
    `/events/${encodeURIComponent(eventId)}`,
    `/webhooks/${encodeURIComponent(deliveryId)}`,
  ];
}

/** Writes the lists into the table of the service. Returns when its aggregator has counted them. */
async function loadIntoService({ service }: RunningConsole, endpoint: string): Promise<void> {
  const { createTableClient } = await import('../lib/foundation/table.ts');
  Object.assign(process.env, service.environment, { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
  const table = createTableClient(service.environment.TABLE_NAME ?? '');
  const countTransactions = async (): Promise<number> =>
    (await callLocalService(service, '/v3/transactions?limit=1')).body.paging.total;
  const before = await countTransactions();
  await putLists(service.appName, table, { hasFigures: true, countries: 10 });
  while ((await countTransactions()) < before + loadedTransactions)
    await new Promise((resolve) => setTimeout(resolve, 1_000));
}

async function measurePage(running: RunningConsole, path: string) {
  const samples: Measures[] = [];
  for (let run = 0; run < runs; run++) samples.push(await openPage(running, path));
  const of = (read: (sample: Measures) => number): number => median(samples.map(read));
  return {
    'first content ms': Math.round(of(({ firstContentMs }) => firstContentMs)),
    'largest content ms': Math.round(of(({ largestContentMs }) => largestContentMs)),
    'blocked ms': Math.round(of(({ blockedMs }) => blockedMs)),
    'layout shift': Number(of(({ layoutShift }) => layoutShift).toFixed(3)),
    'data ms': Math.round(of(({ dataMs }) => dataMs)),
    'transferred kB': Math.round(of(({ transferredBytes }) => transferredBytes) / 1_000),
  };
}

/** @see https://web.dev/articles/vitals */
interface Measures {
  readonly firstContentMs: number;
  readonly largestContentMs: number;
  /** Sum of the parts of tasks beyond 50 ms. */
  readonly blockedMs: number;
  readonly layoutShift: number;
  /** Until no part of the page is loading. */
  readonly dataMs: number;
  readonly transferredBytes: number;
}

async function openPage(running: RunningConsole, path: string): Promise<Measures> {
  const consolePage = await running.open(path, { isUncached: true });
  try {
    await waitUntilLoaded(consolePage);
    return (await consolePage.page.evaluate(collectMeasures)) as Measures;
  } finally {
    await consolePage.page.context().close();
  }
}

/** Runs in the page. Reads the entries that the browser has buffered. */
const collectMeasures = `(async () => {
  const list = (type) => new Promise((resolve) => {
    const observer = new PerformanceObserver((entries) => resolve(entries.getEntries()));
    observer.observe({ type, buffered: true });
    setTimeout(() => resolve([]), 200);
  });
  const [paint, largest, tasks, shifts] = await Promise.all(
    ['paint', 'largest-contentful-paint', 'longtask', 'layout-shift'].map(list),
  );
  const resources = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  return {
    firstContentMs: paint.find(({ name }) => name === 'first-contentful-paint')?.startTime ?? Number.NaN,
    largestContentMs: largest.at(-1)?.startTime ?? Number.NaN,
    blockedMs: tasks.reduce((sum, { duration }) => sum + Math.max(0, duration - 50), 0),
    layoutShift: shifts.reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0),
    dataMs: Math.max(...resources.map(({ responseEnd }) => responseEnd)),
    transferredBytes: resources.reduce((sum, { transferSize }) => sum + transferSize, 0),
  };
})()`;
