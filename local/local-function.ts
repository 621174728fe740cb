import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import type { Invocation, InvocationOutcome, WorkerData, WorkerMessage } from './function-worker.ts';

/** A Lambda function of the template with its runtime settings. */
export interface FunctionDefinition {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** The compiled `function-worker.ts`, which every instance runs. */
  readonly worker: URL;
  readonly code: WorkerData;
  /** Default: 10 s. */
  readonly idleTimeoutMs?: number;
  /** Time that events wait before one more instance starts. Default: 500 ms. */
  readonly growthDelayMs?: number;
  /** Receives the output of the function. */
  readonly log: (text: string) => void;
}

/** The outcome of an invocation, with its AWS request id. */
export type InvocationResult = (InvocationOutcome | { readonly timedOut: true }) & { readonly requestId?: string };

/** A function on this machine. Instances start on demand and are reused. */
export interface LocalFunction {
  invoke(payload: string): Promise<InvocationResult>;
  close(): Promise<void>;
}

const maxInstances = 8;

/** Another instance helps functions that wait for slow servers. One that is starting delays the next one. */
const defaultGrowthDelayMs = 500;

/** A main thread that is busier than this delays the next instance, too. */
const maxMainThreadUtilization = 0.4;

/** An instance without events ends after this time, which frees about 20 MB. */
const defaultIdleTimeoutMs = 10_000;

/** Memory for new objects. The default of 48 MB would be filled before the first scavenge. */
const maxYoungGenerationSizeMb = 4;

/** Creates a function whose instances handle one event at a time, as on Lambda. Further events wait for an instance. */
export function createLocalFunction(definition: FunctionDefinition): LocalFunction {
  const { idleTimeoutMs = defaultIdleTimeoutMs, growthDelayMs = defaultGrowthDelayMs } = definition;
  const instances = new Set<Worker>();
  const starting = new Set<Worker>();
  /** Instances without an event, with the timer that ends them. */
  const idle = new Map<Worker, NodeJS.Timeout>();
  const waiting: ((worker: Worker) => void)[] = [];
  let growth: NodeJS.Timeout | undefined;

  const startInstance = (): Worker => {
    const worker = startWorker(definition);
    instances.add(worker);
    starting.add(worker);
    worker.once('message', () => starting.delete(worker));
    const discard = (): void => {
      instances.delete(worker);
      starting.delete(worker);
      takeIdle(worker);
      if (waiting.length > 0 && instances.size === 0) release(startInstance());
    };
    // An uncaught error ends the thread a little later.
    worker.once('error', discard).once('exit', discard);
    return worker;
  };
  const takeIdle = (worker: Worker | undefined): Worker | undefined => {
    if (worker === undefined) return undefined;
    clearTimeout(idle.get(worker));
    idle.delete(worker);
    return worker;
  };
  const endIdle = (worker: Worker): void => {
    takeIdle(worker);
    void worker.terminate();
  };
  const release = (worker: Worker): void => {
    const next = waiting.shift();
    if (next) next(worker);
    else idle.set(worker, setTimeout(endIdle, idleTimeoutMs, worker).unref());
  };
  const grow = (): void => {
    if (growth) return;
    const before = performance.eventLoopUtilization();
    const wasStarting = starting.size > 0;
    growth = setTimeout(() => {
      growth = undefined;
      if (waiting.length === 0) return;
      const isMainThreadBusy = performance.eventLoopUtilization(before).utilization > maxMainThreadUtilization;
      const canGrow = instances.size < maxInstances && !wasStarting && starting.size === 0 && !isMainThreadBusy;
      if (canGrow) release(startInstance());
      if (waiting.length > 0) grow();
    }, growthDelayMs);
  };
  const acquireInstance = async (): Promise<Worker> => {
    const worker = takeIdle([...idle.keys()].at(-1)) ?? (instances.size === 0 ? startInstance() : undefined);
    if (worker) return worker;
    const { promise, resolve } = withResolvers<Worker>();
    waiting.push(resolve);
    grow();
    return await promise;
  };
  return {
    async invoke(payload) {
      const worker = await acquireInstance();
      const invocationResult = await runInvocation(worker, payload, definition);
      if (instances.has(worker)) release(worker);
      return invocationResult;
    },
    close: async () => {
      await Promise.all([...instances].map((worker) => worker.terminate()));
    },
  };
}

function startWorker({ worker, code, environment, memoryMb, log }: FunctionDefinition): Worker {
  const thread = new Worker(worker, {
    workerData: code,
    // The loaders of this process, such as tsx, would double the time of a start. The bundles are JavaScript.
    execArgv: [],
    env: { ...environment },
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb },
    stdout: true,
    stderr: true,
  });
  for (const stream of [thread.stdout, thread.stderr]) stream.on('data', (chunk) => log(String(chunk)));
  thread.on('error', (error) => log(`${error.stack}\n`));
  return thread;
}

/** Sends the event and waits for the outcome, the end of the thread or the timeout. */
async function runInvocation(
  worker: Worker,
  payload: string,
  { name, timeoutMs, memoryMb }: FunctionDefinition,
): Promise<InvocationResult> {
  const context = { awsRequestId: randomUUID(), functionName: name, memoryLimitInMB: String(memoryMb) };
  const invocation: Invocation = { payload, context, timeoutMs };
  const { promise, resolve } = withResolvers<InvocationResult>();
  const timer = setTimeout(() => resolve({ timedOut: true }), timeoutMs);
  const onMessage = (message: WorkerMessage) => {
    if (!('isReady' in message)) resolve(message);
  };
  const onError = (error: unknown) => resolve({ error: error instanceof Error ? String(error.stack) : String(error) });
  const onExit = () => resolve({ error: `The instance of ${name} exited.` });
  worker.on('message', onMessage).once('error', onError).once('exit', onExit);
  worker.postMessage(invocation);
  const invocationResult = await promise;
  clearTimeout(timer);
  worker.off('message', onMessage).off('error', onError).off('exit', onExit);
  // An instance that failed or timed out may be busy or in an unknown state.
  if (!('result' in invocationResult)) await worker.terminate();
  return { ...invocationResult, requestId: context.awsRequestId };
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}
