import { randomUUID } from 'node:crypto';
import type { FunctionThread, FunctionThreads, ThreadOutcome } from './function-threads.ts';

export interface FunctionDefinition {
  readonly name: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly threads: FunctionThreads;
}

/** The outcome of an invocation, with its AWS request id. */
export type InvocationResult = ThreadOutcome & { readonly requestId?: string };

export interface LocalFunction {
  invoke(payload: string): Promise<InvocationResult>;
}

interface Instance {
  readonly id: number;
  readonly thread: FunctionThread;
}

const maxInstances = 8;
let instanceCount = 0;

/** Creates a function whose instances handle one event at a time, as on Lambda. Further events wait for an instance. */
export function createLocalFunction({ name, timeoutMs, memoryMb, threads }: FunctionDefinition): LocalFunction {
  const idle: Instance[] = [];
  const waiting: ((instance: Instance) => void)[] = [];
  let busyCount = 0;
  const takeIdle = (): Instance | undefined => {
    for (;;) {
      const instance = idle.pop();
      if (!instance || instance.thread.hasInstance(instance.id)) return instance;
    }
  };
  const createInstance = (): Instance => ({ id: instanceCount++, thread: threads.choose() });
  const acquire = async (): Promise<Instance> => {
    if (busyCount === maxInstances) return await new Promise((resolve) => waiting.push(resolve));
    busyCount++;
    return takeIdle() ?? createInstance();
  };
  const release = (instance: Instance): void => {
    const next = waiting.shift();
    if (next) next(instance.thread.hasInstance(instance.id) ? instance : createInstance());
    else {
      busyCount--;
      idle.push(instance);
    }
  };
  return {
    async invoke(payload) {
      const instance = await acquire();
      const requestId = randomUUID();
      const context = { awsRequestId: requestId, functionName: name, memoryLimitInMB: String(memoryMb) };
      const invocation = { instanceId: instance.id, functionName: name, payload, context, timeoutMs };
      const outcome = await instance.thread.invoke(invocation);
      release(instance);
      return { ...outcome, requestId };
    },
  };
}
