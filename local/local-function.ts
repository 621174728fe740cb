import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Invocation, InvocationOutcome, WorkerData } from './function-worker.ts';

/** A Lambda function of the template with its runtime settings. */
export interface FunctionDefinition {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** The compiled `function-worker.ts`, which every instance runs. */
  readonly worker: URL;
  readonly code: WorkerData;
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

/** Creates a function whose instances handle one event at a time, as on Lambda. Further events wait for an instance. */
export function createLocalFunction(definition: FunctionDefinition): LocalFunction {
  const idle: Worker[] = [];
  const instances = new Set<Worker>();
  const waiting: (() => void)[] = [];

  const startInstance = (): Worker => {
    const worker = startWorker(definition);
    instances.add(worker);
    worker.once('exit', () => {
      instances.delete(worker);
      if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1);
      waiting.shift()?.();
    });
    return worker;
  };
  const acquireInstance = async (): Promise<Worker> => {
    for (;;) {
      const worker = idle.pop() ?? (instances.size < maxInstances ? startInstance() : undefined);
      if (worker) return worker;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  return {
    async invoke(payload) {
      const worker = await acquireInstance();
      const invocationResult = await runInvocation(worker, payload, definition);
      if (instances.has(worker)) idle.push(worker);
      waiting.shift()?.();
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
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
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
  const onError = (error: unknown) => resolve({ error: error instanceof Error ? String(error.stack) : String(error) });
  const onExit = () => resolve({ error: `The instance of ${name} exited.` });
  worker.once('message', resolve).once('error', onError).once('exit', onExit);
  worker.postMessage(invocation);
  const invocationResult = await promise;
  clearTimeout(timer);
  worker.off('message', resolve).off('error', onError).off('exit', onExit);
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
