import pMap from 'p-map';
import { isPermanent, ServiceError } from '../foundation/errors.ts';
import { logError } from '../foundation/log.ts';
import type { Service } from '../foundation/service.ts';
import {
  computeFromRecord,
  describeRecord,
  reportStreamFailures,
  type StreamFailure,
  toStreamFailure,
} from '../foundation/stream-failure.ts';
import type { StreamRecord } from '../foundation/stream-record.ts';
import { pickRunningTotals } from './count-product.ts';
import type { CountsIncrement } from './counter.ts';
import type { CounterGroup } from './counter-key.ts';
import { getCounterKey, incrementCounter } from './counter-table.ts';
import { collapseHours } from './counts.ts';
import { type CountsChange, listCountsChanges, toShardKey } from './counts-change.ts';
import { type CustomerKey, findAffectedCustomers, rebuildCustomerSummary } from './rebuild-customer-summary.ts';
import { deletePassedMarkers } from './wait-for-stream.ts';

/** Number of counters, or customer summaries, that are written concurrently, with shared reads. */
const concurrency = 25;

/**
 * Adds records of one shard to the counters of days, months and products, then rebuilds the summaries of the affected
 * customers. Counts each record exactly once, although Lambda delivers records at least once and in changing batches.
 * Skips and reports what no repetition can count.
 */
export async function aggregateStreamRecords(
  service: Service,
  records: readonly StreamRecord[],
  shardId: string,
): Promise<void> {
  const shardKey = toShardKey(shardId);
  const failures: StreamFailure[] = [];
  const skipPermanent = async (record: FailedRecord, run: () => Promise<unknown>): Promise<void> => {
    try {
      await run();
    } catch (error) {
      if (!isPermanent(error)) {
        // Lambda logs the error of the batch, which does not name the app.
        logError({ worker: 'aggregate-statistics', ...describeRecord(record) }, ServiceError.fromUnknown(error));
        throw error;
      }
      failures.push(toStreamFailure('aggregate-statistics', record, error));
    }
  };
  const readings: RecordReading[] = [];
  for (const record of records)
    await skipPermanent(record, async () => void readings.push(computeFromRecord(() => readRecord(record))));
  const changes = readings.flatMap((reading) => reading.changes);
  await pMap(
    groupByCounter(changes),
    async ({ appName, increments, ...counter }) => {
      const last = increments.reduce((a, b) => (a.writtenAt > b.writtenAt ? a : b));
      const key = getCounterKey(appName, counter);
      await skipPermanent({ appName, key, writtenAt: last.writtenAt }, async () => {
        await incrementCounter(service, appName, counter, { shard: shardKey, increments });
      });
    },
    { concurrency },
  );
  const recordsByCustomer = new Map(
    readings.flatMap(({ record, customers }) => customers.map((customer) => [toText(customer), { record, customer }])),
  );
  await pMap(
    recordsByCustomer.values(),
    async ({ record, customer }) =>
      await skipPermanent(record, async () => await rebuildCustomerSummary(service, customer)),
    { concurrency },
  );
  // After all writes, so that a repeated batch rarely reports its failures again. A replay is idempotent.
  await reportStreamFailures(service, failures);
  await deletePassedMarkers(service, records);
}

type FailedRecord = Pick<StreamRecord, 'appName' | 'key' | 'writtenAt'>;

/** The effect of a record on counters and customer summaries. */
interface RecordReading {
  readonly record: StreamRecord;
  readonly changes: readonly CountsChange[];
  readonly customers: readonly CustomerKey[];
}

const readRecord = (record: StreamRecord): RecordReading => ({
  record,
  changes: listCountsChanges(record),
  customers: findAffectedCustomers([record]),
});

const toText = ({ appName, username }: CustomerKey): string => `${appName}\n${username}`;

interface CounterIncrements extends CounterGroup {
  readonly appName: string;
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  readonly increments: CountsIncrement[];
}

/** Groups the increments, so that each counter is written once per batch of records. */
function groupByCounter(changes: readonly CountsChange[]): CounterIncrements[] {
  const groups = new Map<string, CounterIncrements>();
  const addIncrement = (counter: Omit<CounterIncrements, 'increments'>, increment: CountsIncrement): void => {
    const { appName, isSandbox, period, product, kind, country } = counter;
    const key = JSON.stringify([appName, isSandbox, period, kind, product?.platform, product?.productId, country]);
    const group = groups.get(key) ?? { ...counter, increments: [] };
    group.increments.push(increment);
    groups.set(key, group);
  };
  for (const { appName, isSandbox, dailyCounts, productCounts, figureCounts, ...position } of changes) {
    const scope = { appName, isSandbox };
    for (const { counts, ...counter } of figureCounts) addIncrement({ ...scope, ...counter }, { ...position, counts });
    for (const [day, counts] of dailyCounts) {
      addIncrement({ ...scope, period: day }, { ...position, counts });
      addIncrement({ ...scope, period: day.slice(0, 7) }, { ...position, counts: collapseHours(counts) });
    }
    for (const { platform, productId, day, counts } of productCounts) {
      const product = { platform, productId };
      const totals = pickRunningTotals(counts);
      addIncrement({ ...scope, period: day, product }, { ...position, counts });
      if (Object.keys(totals).length > 0)
        addIncrement({ ...scope, period: day.slice(0, 7), product }, { ...position, counts: totals });
    }
  }
  return [...groups.values()];
}
