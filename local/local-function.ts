import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { Invocation, InvocationOutcome, WorkerData } from './function-worker.ts';

/** A function of the template, as this machine runs it. */
export interface FunctionDefinition {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** The compiled `function-worker.ts`, which every instance runs. */
  readonly worker: URL;
  readonly code: WorkerData;
  /** Takes what the function prints. */
  readonly log: (text: string) => void;
}

/** How an invocation ended, and the id by which the function knew it. */
export type InvocationResult = (InvocationOutcome | { readonly timedOut: true }) & { readonly requestId?: string };

/** A function that can be called; instances start at the calls that need them and stay for the next ones. */
export interface LocalFunction {
  invoke(payload: string): Promise<InvocationResult>;
  close(): Promise<void>;
}

const maxInstances = 8;

/** A function whose instances, like Lambda's, each handle one event at a time; further events wait. */
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
      const invocationResult = await invocation(worker, payload, definition);
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
    env: { ...environment },
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    stdout: true,
    stderr: true,
  });
  for (const stream of [thread.stdout, thread.stderr]) stream.on('data', (chunk) => log(String(chunk)));
  thread.on('error', (error) => log(`${error.stack}\n`));
  return thread;
}

/** Sends the event and waits for the outcome, the end of the thread or the end of the time. */
async function invocation(
  worker: Worker,
  payload: string,
  { name, timeoutMs, memoryMb }: FunctionDefinition,
): Promise<InvocationResult> {
  const context = { awsRequestId: randomUUID(), functionName: name, memoryLimitInMB: String(memoryMb) };
  const invocation: Invocation = { payload, context, timeoutMs };
  const { promise, resolve } = withResolvers<InvocationResult>();
  const timer = setTimeout(() => resolve({ timedOut: true }), timeoutMs);
  const failed = (error: unknown) => resolve({ error: error instanceof Error ? String(error.stack) : String(error) });
  const exited = () => resolve({ error: `The instance of ${name} ended.` });
  worker.once('message', resolve).once('error', failed).once('exit', exited);
  worker.postMessage(invocation);
  const invocationResult = await promise;
  clearTimeout(timer);
  worker.off('message', resolve).off('error', failed).off('exit', exited);
  // An instance that is still busy, or in an unknown state, is not used again.
  if (!('result' in invocationResult)) await worker.terminate();
  return { ...invocationResult, requestId: context.awsRequestId };
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
