import { dayMs } from '../../lib/foundation/time.ts';
import { median } from '../median.ts';
import { addQuantities, computeBill, type Quantities, scaleQuantities, sumBill } from '../prices.ts';
import { countStoredBytes } from '../units/capacity.ts';
import type { ItemImage } from '../units/item-size.ts';
import { sumUsage } from '../units/usage.ts';
import { assumptions } from './assumptions.ts';
import { type CallTarget, computeWaitMs } from './call-recorder.ts';
import type { Invocation } from './function-host.ts';
import { countAccessLogBytes, countPlatformBytes } from './log-lines.ts';
import type { Load, MeasuredOperation } from './run-operations.ts';
import type { FunctionSettings } from './template.ts';

/** The mean of the measured operations of one kind. */
export interface OperationCost {
  readonly name: string;
  readonly load: Load;
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Read units of the request itself, without workers. */
  readonly requestReadUnits: number;
  /** Table calls of the request itself, by an instance with filled caches: the median. */
  readonly requestTableCalls: number;
  /** Billed time of all invocations, in milliseconds. */
  readonly billedMs: number;
  /** CPU time of all invocations, in milliseconds. */
  readonly cpuMs: number;
  readonly logBytes: number;
  readonly responseBytes: number;
  /** Billed quantities, without storage of the table. */
  readonly quantities: Quantities;
  readonly storage: Storage;
  /** Dollars of one million operations at the prices of the first tiers. */
  readonly dollarsPerMillion: number;
  /** The same by price. */
  readonly parts: Quantities;
}

/** Bytes that an operation adds to the table and its indexes. */
export interface Storage {
  readonly permanentBytes: number;
  /** Bytes times the days until DynamoDB deletes them. */
  readonly expiringByteDays: number;
}

/** Properties of the template that costs depend on. */
export interface CostSettings {
  readonly functions: ReadonlyMap<string, FunctionSettings>;
  readonly accessLogFormat: string;
  /** CPU time of the import of each function, in milliseconds. */
  readonly starts: ReadonlyMap<string, number>;
}

export const bytesPerGb = 1024 ** 3;
const million = 1_000_000;

const latencies: Readonly<Record<CallTarget, number>> = {
  table: assumptions.tableLatencyMs.value,
  queue: assumptions.queueLatencyMs.value,
  secret: assumptions.secretLatencyMs.value,
  store: assumptions.storeLatencyMs.value,
  webhook: assumptions.webhookLatencyMs.value,
};

/** Computes the mean cost of a measured operation. */
export function computeOperationCost(
  { name, load, count, invocations }: MeasuredOperation,
  settings: CostSettings,
): OperationCost {
  const costs = invocations.map((invocation) => computeInvocationCost(invocation, settings));
  const total = addQuantities(...costs.map(({ quantities }) => quantities));
  const quantities = scaleQuantities(total, 1 / count);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / count;
  const parts = computeBill(scaleQuantities(quantities, 1));
  const dollarParts = scaleQuantities(parts, million);
  const usage = sumUsage(invocations.flatMap(({ tableCalls }) => tableCalls));
  const storages = invocations.map(measureStorage);
  const requests = invocations.filter(isApiRequest);
  return {
    name,
    load,
    writeUnits: (usage.table + usage.indexes) / count,
    readUnits: usage.read / count,
    requestReadUnits: sumUsage(requests.flatMap(({ tableCalls }) => tableCalls)).read / count,
    requestTableCalls: requests.length === 0 ? 0 : median(requests.map(({ tableCalls }) => tableCalls.length)),
    billedMs: mean(costs.map(({ billedMs }) => billedMs)),
    cpuMs: mean(invocations.map(({ cpuMs }) => cpuMs)),
    logBytes: mean(costs.map(({ logBytes }) => logBytes)),
    responseBytes: mean(invocations.map(({ responseBytes }) => responseBytes)),
    quantities,
    storage: {
      permanentBytes: mean(storages.map(({ permanentBytes }) => permanentBytes)),
      expiringByteDays: mean(storages.map(({ expiringByteDays }) => expiringByteDays)),
    },
    dollarsPerMillion: sumBill(dollarParts),
    parts: dollarParts,
  };
}

export function computeInvocationCost(invocation: Invocation, { functions, accessLogFormat, starts }: CostSettings) {
  const { functionName, cpuMs, logBytes: ownLogBytes, calls, tableCalls, responseBytes } = invocation;
  const isRequest = isApiRequest(invocation);
  const settings = functions.get(functionName);
  if (!settings) throw new Error(`${functionName} is not a function of the template.`);
  const startMs = assumptions.startShare.value * (assumptions.runtimeStartMs.value + (starts.get(functionName) ?? 0));
  const billedMs = Math.ceil(toDurationMs(cpuMs, settings.memoryMb) + computeWaitMs(calls, latencies)) + startMs;
  const count = (target: CallTarget): number => calls.filter((call) => call.target === target).length;
  const outbound = calls.filter(({ target }) => target === 'store' || target === 'webhook');
  const egressBytes =
    outbound.reduce((bytes, { requestBytes }) => bytes + requestBytes, 0) +
    outbound.length * assumptions.connectionShare.value * assumptions.connectionBytes.value +
    (isRequest ? responseBytes + assumptions.responseHeaderBytes.value : 0);
  const functionLogBytes = ownLogBytes + countPlatformBytes(settings);
  const accessLogBytes = isRequest ? countAccessLogBytes(accessLogFormat) : 0;
  const usage = sumUsage(tableCalls);
  const isQueueWorker = queueWorkers.includes(functionName);
  const quantities: Quantities = {
    tableWrites: usage.table + usage.indexes,
    tableReads: usage.read,
    lambdaRequests: 1,
    lambdaTime: (billedMs / 1000) * (settings.memoryMb / 1024),
    apiRequests: isRequest ? 1 : 0,
    // Lambda receives and deletes the messages of a batch with one call each.
    queueRequests: count('queue') + (isQueueWorker ? 2 : 0),
    functionLogs: functionLogBytes / bytesPerGb,
    accessLogs: accessLogBytes / bytesPerGb,
    logStorage: ((functionLogBytes + accessLogBytes) / bytesPerGb) * assumptions.logCompression.value,
    egress: egressBytes / bytesPerGb,
    secretRequests: count('secret') + (settings.readsSecret ? assumptions.startShare.value : 0),
  };
  return { quantities, billedMs, logBytes: functionLogBytes + accessLogBytes };
}

/** Only API functions return a response with bytes. */
const isApiRequest = ({ responseBytes }: Invocation): boolean => responseBytes > 0;

const queueWorkers: readonly string[] = [
  'workers/process-notification',
  'workers/refresh-purchase',
  'workers/send-webhook',
];

/**
 * Converts CPU time into duration: CPU is proportional to memory, up to one vCPU for this single-threaded code.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
export const toDurationMs = (cpuMs: number, memoryMb: number): number =>
  cpuMs / Math.min(1, memoryMb / assumptions.vcpuMemoryMb.value);

function measureStorage({ tableCalls }: Invocation): Storage {
  let permanentBytes = 0;
  let expiringByteDays = 0;
  for (const { change } of tableCalls.filter((call) => !call.isConditionFailed).flatMap(({ writes }) => writes)) {
    const bytes = countStored(change.after) - countStored(change.before);
    const ttl = (change.after ?? change.before)?.ttl?.N;
    if (ttl === undefined) permanentBytes += bytes;
    else expiringByteDays += bytes * Math.max(0, (Number(ttl) * 1000 - Date.now()) / dayMs);
  }
  return { permanentBytes, expiringByteDays };
}

const countStored = (item: ItemImage | undefined): number => (item ? countStoredBytes(item) : 0);
