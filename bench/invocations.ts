import type { BenchResult } from './bench-result.ts';
import { computeWaitMs } from './cost/call-recorder.ts';
import { type CostService, withCostService } from './cost/cost-service.ts';
import type { Invocation } from './cost/function-host.ts';
import { type Requests, withRequests } from './cost/run-operations.ts';
import { median } from './median.ts';

/** Calls that start within this time do not wait for each other. It is not processor time. */
const delayMs = 15;
const coldStarts = 5;

/** Invocations of one instance whose processor time is the median with the two before and after them. */
const laterInvocations = [10, 50] as const;
const neighbors = 2;

/**
 * Measures the built functions, each in its own process with the variables that Lambda sets: the processor time of
 * the initialization with its warm-up and of invocations, the first one included, and the table calls of a request. The
 * last rows are a function without code of the service that makes as many table calls, one after the other.
 */
export const benchInvocations = async (): Promise<BenchResult> =>
  await withCostService(
    async (cost) =>
      await withRequests(cost, async (requests) => {
        const rows = [];
        for (const [request, prepare] of Object.entries(requests))
          rows.push({ request, ...(await measureInstances(cost, prepare)) });
        const counts = new Set([0, ...rows.map((row) => row['table calls'])]);
        const floor = await cost.host.build('bench/floor-function.ts');
        for (const count of [...counts].sort((a, b) => a - b)) rows.push(await measureFloor(cost, floor, count));
        return {
          id: 'instances',
          title: 'CPU time in ms of the initialization and of invocations, and table calls of a later invocation',
          rows,
        };
      }),
    { delayMs },
  );

async function measureInstances(cost: CostService, prepare: Requests[string]) {
  const { functionName } = await sendRequest(cost, prepare);
  const starts: number[] = [];
  const firsts: Invocation[] = [];
  for (let number = 0; number < coldStarts; number++) {
    const run = await prepare();
    cost.host.stop(functionName);
    firsts.push(await sendRequest(cost, async () => run));
    starts.push(cost.host.listStarts().get(functionName) ?? Number.NaN);
  }
  const invocations = firsts.slice(-1);
  while (invocations.length < Math.max(...laterInvocations) + neighbors)
    invocations.push(await sendRequest(cost, prepare));
  const later = laterInvocations.map((count) => invocations.slice(count - 1 - neighbors, count + neighbors));
  return {
    initialization: roundMedian(starts),
    first: roundMedian(firsts.map(({ cpuMs }) => cpuMs)),
    ...Object.fromEntries(
      laterInvocations.map((count, index) => [
        `${count}th`,
        roundMedian((later[index] ?? []).map(({ cpuMs }) => cpuMs)),
      ]),
    ),
    'table calls': median(later.flat().map(({ tableCalls }) => tableCalls.length)),
    chain: median(later.flat().map(countChain)),
  };
}

/** Measures a function that makes table calls and nothing else. */
async function measureFloor(cost: CostService, functionName: string, tableCalls: number) {
  const prepare = async () => async () => void (await cost.invoke(functionName, { tableCalls }));
  const figures = await measureInstances(cost, prepare);
  cost.host.stop(functionName);
  return { request: `floor, ${tableCalls} table calls`, ...figures };
}

/** Prepares a request and sends it. Returns its invocation. */
async function sendRequest(cost: CostService, prepare: Requests[string]): Promise<Invocation> {
  const run = await prepare();
  cost.takeInvocations();
  await run();
  const [invocation] = cost.takeInvocations();
  if (!invocation) throw new Error('The request did not invoke a function.');
  return invocation;
}

/** Counts the table calls of the longest chain in which each call waits for the one before. */
const countChain = ({ calls }: Invocation): number =>
  computeWaitMs(calls, { table: 1, queue: 0, secret: 0, store: 0, webhook: 0 });

const roundMedian = (values: readonly number[]): number => Number(median(values).toFixed(1));
