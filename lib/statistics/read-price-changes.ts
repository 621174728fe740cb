import pMap from 'p-map';
import { createCache } from '../foundation/cache.ts';
import { addMonths } from '../foundation/calendar.ts';
import { perContainer, type Service } from '../foundation/service.ts';
import { minuteMs } from '../foundation/time.ts';
import { toUtcDay } from '../money/rates.ts';
import { listCountedProducts, listCounterDays, listCounterMonths } from './counter-table.ts';
import { type FoundPriceChange, findPriceStarts, toPriceChange } from './price-changes.ts';

/** A change is found by the prices of a year before it, which yearly subscriptions need. */
const monthsBefore = 12;

/** Number of counters that are read: a product has one for each country and month. */
const maxCounters = 30_000;

/** Number of products whose counters are read concurrently. */
const concurrency = 25;

/** Each page of figures reads the changes of its range, whose counters can be many. */
const cacheMs = 10 * minuteMs;
const caches = perContainer(() => createCache<FoundPriceChange[]>(200));

interface Range {
  readonly startdate?: string | undefined;
  readonly enddate?: string | undefined;
}

/**
 * Finds the price changes of a range of days in the counters of payments, by default of the last 12 months, earliest
 * first, as of ten minutes ago or later. Empty for an app with too many counters.
 */
export async function readPriceChanges(service: Service, appName: string, range: Range): Promise<FoundPriceChange[]> {
  const today = toUtcDay(service.now());
  const last = [range.enddate ?? today, today].sort()[0] ?? today;
  const first = range.startdate ?? `${addMonths(last.slice(0, 7), -11)}-01`;
  if (first > last) return [];
  const key = JSON.stringify([appName, first, last]);
  const now = service.now();
  const cached = caches(service).get(key, now);
  if (cached) return cached;
  const changes = await findPriceChanges(service, appName, { first, last });
  caches(service).set(key, changes, { now, usableUntil: now + cacheMs });
  return changes;
}

async function findPriceChanges(
  service: Service,
  appName: string,
  { first, last }: { readonly first: string; readonly last: string },
): Promise<FoundPriceChange[]> {
  const [firstMonth, lastMonth] = [addMonths(first.slice(0, 7), -monthsBefore), last.slice(0, 7)];
  let counters = 0;
  const changes = await pMap(
    await listCountedProducts(service, appName),
    async (product) => {
      if (counters > maxCounters) return [];
      const query = { kind: 'cells', product, isEventuallyConsistent: true } as const;
      const months = await listCounterMonths(service, appName, { months: [firstMonth, lastMonth], ...query });
      counters += months.length;
      const starts = findPriceStarts(months).filter(({ month }) => month >= first.slice(0, 7));
      const found = starts.map(async (start) => {
        const days = await listCounterDays(service, appName, {
          days: [`${start.month}-01`, `${start.month}-31`],
          ...query,
        });
        return toPriceChange(product, start, { days, months }) ?? [];
      });
      return (await Promise.all(found)).flat();
    },
    { concurrency },
  );
  if (counters > maxCounters) return [];
  return changes
    .flat()
    .filter(({ date }) => first <= date && date <= last)
    .sort((a, b) => (a.date < b.date ? -1 : 1));
}
