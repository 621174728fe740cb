import { randomUUID } from 'node:crypto';
import { defaultMaxConcurrency } from '../infra/worker-definitions.ts';
import { dayMs, secondMs } from '../lib/foundation/time.ts';
import { maxCheckpoints } from '../lib/statistics/counter.ts';
import type { BenchResult } from './bench-result.ts';
import { assumptions } from './cost/assumptions.ts';
import { type CostService, withCostService } from './cost/cost-service.ts';
import { computeOperationCost, toDurationMs } from './cost/operation-costs.ts';
import { type MeasuredOperation, measureOperations } from './cost/run-operations.ts';
import {
  type FunctionSettings,
  getAccessLogFormat,
  listFunctionSettings,
  listStreamSettings,
} from './cost/template.ts';
import { profileOperation, type ShardBalance, simulateShards, sumPartitionUnits } from './scale/partition-load.ts';
import { appPartition, profileReads } from './scale/read-load.ts';
import { selectStreamRecords } from './units/stream.ts';

/** The size of one app that the service must carry. */
const purchases = 100_000_000;
const validationsPerSecond = 5_000;

/** All purchases are monthly subscriptions, each refreshed every three days (lib/purchases/refresh-schedule.ts). */
const [renewalDays, refreshDays] = [30, 3];

/** Renewals of the busiest second, compared with the mean: stores bill in batches. */
const renewalPeak = 10;

/** Operations a second. */
type Rates = Readonly<Record<string, number>>;

const perSecond = (count: number, days: number): number => count / ((days * dayMs) / secondMs);

const launch = 'launch, all new';

/** Traffic of one app. */
const scenarios: Readonly<Record<string, Rates>> = {
  // One validation in a hundred is of a new purchase.
  'running app': {
    'validation, new': 0.01 * validationsPerSecond,
    'validation, repeated later': 0.99 * validationsPerSecond,
    'notification with its webhook': renewalPeak * perSecond(purchases, renewalDays),
    refresh: perSecond(purchases, refreshDays),
  },
  // A new purchase with a new customer has two webhooks. Their queue has a backlog.
  [launch]: { 'validation, new': validationsPerSecond, 'webhook alone': 2 * validationsPerSecond },
};

const isInScenario = (name: string): boolean => Object.values(scenarios).some((rates) => rates[name] !== undefined);

/**
 * Maximum write units of a partition in a second, in the table and in an index.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
const partitionWriteLimit = 1_000;

/** Maximum read units of a partition in a second. */
const partitionReadLimit = 3_000;

/**
 * Default quota of concurrent executions of an account.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const concurrencyQuota = 1_000;

/** Steady rate of the stage: infra/api.ts. */
const stageLimit = 2_000;

/** Share of a minute in which `enqueue-due-items` starts batches: until 10 s before its timeout of 55 s. */
const leasingShare = 45 / 60;

const simulatedKeys = 1_000_000;

const leases = 'leases of enqueue-due-items';

/** Messages of a full batch: infra/triggers.ts. */
const messagesPerFullBatch = 10;

/** Counters of the app and of the busiest product, and their figures. */
const counterPartitions = ['table a#S', 'table a#Q#*', 'table a#Z#P', 'table a#Z#K#*', 'table a#Z#H#*'] as const;

/** Changes that would raise a limit, with their partitions or resources. */
const remedies: Readonly<Record<string, readonly string[]>> = {
  'more shards: a constant of lib/foundation/keys.ts': [
    ...['byCreated a#P#*', 'byCreated a#C#*', 'byCreated a#T#*', 'byCreated a#E#*'],
    ...['byKey a#PU#*', 'byKey a#CN#*', 'byKey a#DL#*', 'table a#E#*', 'due DUE#*'],
  ],
  'a longer batching window, or the option counterParts': [...counterPartitions, 'updates of one counter'],
  'one run for each group of shards of the index due': [leases],
  'the limit of the stage in infra/api.ts': ['stage of API Gateway'],
  'a higher quota of the account': ['concurrent executions'],
};

const findRemedy = (resource: string): string =>
  Object.entries(remedies).find(([, resources]) => resources.includes(resource))?.[0] ?? '';

/** Computes the busiest partitions and the other limits at the target, from the writes of the built functions. */
export const benchScale = async (): Promise<BenchResult[]> =>
  await withCostService(async (cost) => {
    const measured = (await measureOperations(cost, isInScenario)).filter(({ load }) => load === 'steady');
    const shards = await simulateKeys();
    const settings = {
      functions: listFunctionSettings(cost.template),
      accessLogFormat: getAccessLogFormat(cost.template),
      starts: cost.host.listStarts(),
    };
    const billedMs = new Map(
      measured.map((operation) => [operation.name, computeOperationCost(operation, settings).billedMs]),
    );
    const streams = listStreamSettings(cost.template);
    const leaseLimit = computeLeaseRate(await measureLeaseMs(cost), settings.functions);
    const rows = Object.entries(scenarios).flatMap(([scenario, rates]) => {
      const busy = [
        ...listPartitionLoads(rates, measured, shards),
        ...listReadLoads(rates, measured, {
          messages: scenario === launch ? messagesPerFullBatch : 1,
          fanOuts: countFanOuts({ rates, storedPurchases: purchases }, measured),
        }),
        ...listStreamLoads({ rates, storedPurchases: purchases }, measured, streams),
        ...listServiceLoads(rates, billedMs),
        { resource: leases, unit: 'items/s', limit: leaseLimit, used: rates.refresh ?? 0 },
      ];
      return busy.map((load) => toRow(scenario, load));
    });
    // The purchases of a deleted app are leased once more, when they become due, oldest first, together with the
    // purchases of other apps.
    const swept = perSecond(purchases, refreshDays);
    rows.push(toRow('deleted app', { resource: leases, unit: 'items/s', limit: leaseLimit, used: swept }));
    return [
      {
        id: 'limits',
        title: `The busiest partitions and other limits of one app with ${purchases / 1e6} million purchases and ${validationsPerSecond} validations a second`,
        rows,
      },
      {
        id: 'profile',
        title: 'Write units of one operation in partitions that an app shares, at the steady rate',
        rows: measured
          .filter(({ name }) => isInScenario(name))
          .flatMap((operation) =>
            [...profileOperation(operation)].map(([partition, units]) => ({
              operation: operation.name,
              partition,
              units: Number(units.toFixed(3)),
            })),
          ),
      },
      {
        id: 'shards',
        title: `Distribution of ${simulatedKeys / 1e6} million generated keys`,
        rows: [...shards].map(([pattern, { shards: count, maxShare }]) => ({
          partitions: pattern,
          shards: count,
          'busiest share': Number(maxShare.toFixed(4)),
          'times the mean': Number((maxShare * count).toFixed(3)),
        })),
      },
      {
        id: 'rates',
        title: 'Operations a second',
        rows: Object.entries(scenarios).flatMap(([scenario, rates]) =>
          Object.entries(rates).map(([operation, rate]) => ({ scenario, operation, rate: Math.round(rate) })),
        ),
      },
    ];
  });

/** A resource with a limit in a second. */
interface ResourceLoad {
  readonly resource: string;
  readonly unit: string;
  readonly limit: number;
  /** At the target. */
  readonly used: number;
}

function toRow(scenario: string, { resource, unit, limit, used }: ResourceLoad) {
  const factor = limit / used;
  return {
    scenario,
    resource,
    used: Math.round(used),
    limit: Math.round(limit),
    unit,
    'breaks at times the target': factor > 1_000 ? '> 1000' : Number(factor.toPrecision(3)),
    holds: used <= limit ? 'yes' : 'no',
    remedy: used <= limit ? '' : findRemedy(resource),
  };
}

/** Distributes generated events and purchases with the key functions of the table. */
async function simulateKeys(): Promise<ReadonlyMap<string, ShardBalance>> {
  const keys = await import('../lib/foundation/keys.ts');
  const { dueIndexKeys } = await import('../lib/foundation/keys.ts');
  const { createEventRecorder } = await import('../lib/events/event-recorder.ts');
  const date = Date.now();
  const toEventPartition = (number: number): string => {
    const { eventId } = createEventRecorder({ type: 'receipt.validated', date: date + Math.floor(number / 1_000) });
    return keys.eventKey('a', eventId).pk;
  };
  const events = simulateShards(simulatedKeys, toEventPartition);
  const due = simulateShards(
    simulatedKeys,
    (number) => dueIndexKeys(keys.purchaseKey('a', `store_a:${200_000_000_000 + number}`), date).duePk,
  );
  const dates = { createdAt: date, updatedAt: date };
  const purchaseShards = simulateShards(
    simulatedKeys,
    (number) => keys.purchaseIndexKeys('a', `store_a:${200_000_000_000 + number}`, dates).keyPk,
  );
  const customers = simulateShards(
    simulatedKeys,
    (number) => keys.customerIndexKeys('a', `user-${number}`, date).createdPk,
  );
  const words = simulateShards(simulatedKeys, (number) => keys.nameWordList.entry('a', `user-${number}#0`, '').keyPk);
  const deliveries = simulateShards(simulatedKeys, () => keys.deliveryList.entry('a', randomUUID(), date).keyPk);
  return new Map([
    ['a#E#*', events],
    ['DUE#*', due],
    ['a#P#*', purchaseShards],
    ['a#PU#*', purchaseShards],
    ['a#T#*', purchaseShards],
    ['a#C#*', customers],
    ['a#CN#*', customers],
    ['a#CW#*', words],
    ['a#DL#*', deliveries],
  ]);
}

/** Computes the write units in a second of the busiest partition of each pattern, without counters. */
export function listPartitionLoads(
  rates: Rates,
  measured: readonly MeasuredOperation[],
  shards: ReadonlyMap<string, ShardBalance>,
): ResourceLoad[] {
  const units = new Map<string, number>();
  for (const operation of measured) {
    for (const [pattern, perOperation] of profileOperation(operation))
      units.set(pattern, (units.get(pattern) ?? 0) + perOperation * (rates[operation.name] ?? 0));
  }
  return [...units]
    .filter(([pattern, used]) => used > 0 && !isCounter(pattern))
    .map(([resource, used]) => {
      const [, pattern = ''] = resource.split(' ');
      return {
        resource,
        unit: 'write units/s',
        limit: partitionWriteLimit,
        used: used * (shards.get(pattern)?.maxShare ?? 1),
      };
    })
    .sort((a, b) => b.used - a.used);
}

interface ReadBatches {
  /** Messages of a batch of send-webhook. */
  readonly messages: number;
  /** Batches of fan-out-webhooks in a second. Each reads the app. */
  readonly fanOuts: number;
}

/** Computes the read units in a second of each partition that many operations read, without counters and shards. */
export function listReadLoads(
  rates: Rates,
  measured: readonly MeasuredOperation[],
  { messages, fanOuts }: ReadBatches,
): ResourceLoad[] {
  const units = new Map([[appPartition, fanOuts]]);
  for (const operation of measured) {
    for (const [pattern, perOperation] of profileReads(operation, messages))
      units.set(pattern, (units.get(pattern) ?? 0) + perOperation * (rates[operation.name] ?? 0));
  }
  return [...units]
    .filter(([pattern, used]) => used > 0 && !isCounter(pattern))
    .map(([pattern, used]) => ({
      resource: `reads of ${pattern}`,
      unit: 'read units/s',
      limit: partitionReadLimit,
      used,
    }));
}

/** Counters are written by batch, not by operation. */
const isCounter = (pattern: string): boolean => counterPartitions.some((counter) => counter === pattern);

const aggregator = 'workers/aggregate-statistics';

/**
 * Data of a purchase with its customer, events and deliveries, with indexes: 3.2 TB for 100 million purchases.
 */
const bytesPerPurchase = 32_000;

/** @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.Partitions.html */
const bytesPerPartition = 10_000_000_000;

/** Number of open shards of the stream: one for each partition of the table, which is split by writes or by size. */
const countShards = (tableUnits: number, purchaseCount: number): number =>
  Math.max(
    1,
    Math.ceil(tableUnits / partitionWriteLimit),
    Math.ceil((purchaseCount * bytesPerPurchase) / bytesPerPartition),
  );

interface StreamLoad {
  readonly rates: Rates;
  readonly storedPurchases: number;
}

/** Sums the write units of the table in a second. */
const sumTableUnits = (rates: Rates, measured: readonly MeasuredOperation[]): number =>
  measured.reduce((total, { name, count, invocations }) => {
    const writes = invocations.flatMap(({ tableCalls }) => tableCalls).flatMap((call) => call.writes);
    return total + ((rates[name] ?? 0) * writes.reduce((sum, { table }) => sum + table, 0)) / count;
  }, 0);

/** Counts the batches of fan-out-webhooks in a second: one of each shard in each poll. */
export const countFanOuts = ({ rates, storedPurchases }: StreamLoad, measured: readonly MeasuredOperation[]): number =>
  (countShards(sumTableUnits(rates, measured), storedPurchases) * secondMs) / assumptions.streamPollMs.value;

/**
 * Computes the load of the counters and of the aggregator, which reads each open shard of the stream.
 */
export function listStreamLoads(
  { rates, storedPurchases }: StreamLoad,
  measured: readonly MeasuredOperation[],
  streams: ReturnType<typeof listStreamSettings>,
): ResourceLoad[] {
  const stream = streams.get(aggregator);
  if (!stream) throw new Error('The aggregator does not read the stream.');
  let records = 0;
  for (const { name, count, invocations } of measured) {
    const rate = rates[name] ?? 0;
    const calls = invocations.flatMap(({ tableCalls }) => tableCalls);
    records += (rate * selectStreamRecords('aggregate-statistics', calls).length) / count;
  }
  const shardCount = countShards(sumTableUnits(rates, measured), storedPurchases);
  const byWindow = (shardCount * secondMs) / Math.max(stream.batchingWindowMs, assumptions.streamPollMs.value);
  const batches = Math.max(records / stream.batchSize, Math.min(byWindow, records));
  const runs = measured
    .flatMap(({ invocations }) => invocations)
    .filter(({ functionName }) => functionName === aggregator);
  const counterLoads = counterPartitions.map((resource) => {
    const units = runs.map(
      ({ tableCalls }) => sumPartitionUnits(tableCalls.flatMap(({ writes }) => writes)).get(resource) ?? 0,
    );
    return { resource, unit: 'write units/s', limit: partitionWriteLimit, used: batches * Math.max(0, ...units) };
  });
  return [
    ...counterLoads,
    {
      resource: 'updates of one counter',
      unit: 'conditional updates/s',
      // One after the other: the counter, and with many shards the saved checkpoints, are read, then both are written.
      limit: secondMs / ((shardCount > maxCheckpoints ? 4 : 2) * assumptions.tableLatencyMs.value),
      used: batches,
    },
  ];
}

const leasingFunction = 'workers/enqueue-due-items';

/** Number of due items of one run, after a first run of as many. */
const leasedItems = 2_000;

/** Measures the CPU time in which `enqueue-due-items` leases and enqueues an item, in milliseconds. */
async function measureLeaseMs({ invoke, takeInvocations }: CostService): Promise<number> {
  const { dueIndexKeys } = await import('../lib/foundation/keys.ts');
  const { purchaseKey } = await import('../lib/foundation/keys.ts');
  const { getService } = await import('../lib/foundation/get-service.ts');
  let cpuMs = Number.NaN;
  for (let run = 0; run < 2; run++) {
    const keys = Array.from({ length: leasedItems }, (_, number) => purchaseKey('a', `store_a:lease-${run}-${number}`));
    await getService().table.batchPut(keys.map((key) => ({ ...key, ...dueIndexKeys(key, Date.now() - secondMs) })));
    takeInvocations();
    await invoke(leasingFunction, {});
    cpuMs = takeInvocations().reduce((sum, invocation) => sum + invocation.cpuMs, 0);
  }
  return cpuMs / leasedItems;
}

/** The items of one batch: lib/refresh/enqueue-due-items.ts. */
const leasedBatch = 400;

/** Calls that the SDK makes at once to one service. */
const maxConnections = 50;

/**
 * Computes how many items `enqueue-due-items` can lease and enqueue in a second: from its CPU time for one item, and
 * the waits of a batch for the query, for the conditional updates, and for the calls of SQS with ten messages.
 */
export function computeLeaseRate(
  cpuMs: number,
  functions: ReadonlyMap<string, Pick<FunctionSettings, 'memoryMb'>>,
): number {
  const { memoryMb } = functions.get(leasingFunction) ?? { memoryMb: Number.NaN };
  const { tableLatencyMs, queueLatencyMs } = assumptions;
  const updates = Math.ceil(leasedBatch / maxConnections);
  const sends = Math.ceil(leasedBatch / 10 / maxConnections);
  const waitMs = (1 + updates) * tableLatencyMs.value + sends * queueLatencyMs.value;
  return (leasingShare * secondMs * leasedBatch) / (leasedBatch * toDurationMs(cpuMs, memoryMb) + waitMs);
}

/** Operations that no request of a client or a store starts. */
const unrequested = ['refresh', 'webhook alone'];

function listServiceLoads(rates: Rates, billedMs: ReadonlyMap<string, number>): ResourceLoad[] {
  const concurrency = Object.entries(rates).reduce((sum, [name, rate]) => {
    const instances = (rate * (billedMs.get(name) ?? Number.NaN)) / secondMs;
    // More webhooks wait in their queue.
    return sum + (name === 'webhook alone' ? Math.min(instances, defaultMaxConcurrency) : instances);
  }, 0);
  const requests = Object.entries(rates).reduce(
    (sum, [name, rate]) => sum + (unrequested.includes(name) ? 0 : rate),
    0,
  );
  return [
    { resource: 'stage of API Gateway', unit: 'requests/s', limit: stageLimit, used: requests },
    { resource: 'concurrent executions', unit: 'executions', limit: concurrencyQuota, used: concurrency },
  ];
}
