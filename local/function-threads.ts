import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type {
  Invocation,
  InvocationOutcome,
  MessageFromThread,
  MessageToThread,
  ThreadData,
} from './function-thread.ts';
import type { CallDecision } from './iam-usage.ts';

/** The outcome of an invocation. `hasEnded`: the instance of the invocation has ended. */
export type ThreadOutcome = (InvocationOutcome | { readonly timedOut: true }) & { readonly hasEnded?: true };

/** A thread in which instances of all functions run. */
export interface FunctionThread {
  readonly busyCount: number;
  hasInstance(id: number): boolean;
  invoke(invocation: Invocation): Promise<ThreadOutcome>;
}

interface ThreadsOptions extends ThreadData {
  /** The compiled `function-thread.ts`. */
  readonly worker: URL;
  readonly onCall: (call: CallDecision) => void;
  readonly onWrite: () => void;
  /** Receives the output of the functions. */
  readonly log: (text: string) => void;
}

/** The threads of the functions, which start on demand. */
export interface FunctionThreads {
  /** Chooses the thread of a new instance. */
  choose(): FunctionThread;
  /** Ends all threads immediately, like a crash. The next instance starts a new one. */
  kill(): Promise<void>;
}

/** The processors are shared with this thread and the table engine. Each additional thread compiles all code again. */
const maxThreads = Math.max(1, Math.min(4, availableParallelism() - 1));

/** Another thread starts if each one has so many events at the same time. */
const maxBusyInstances = 8;

/**
 * Processor time of this process within which a thread that runs code without end does not end an instance. A thread
 * can wait for a processor for any time.
 */
const maxBlockedCpuMs = 3_000;
const blockedPollMs = 20;

export function createFunctionThreads(options: ThreadsOptions): FunctionThreads {
  const threads = new Set<ReturnType<typeof startThread>>();
  return {
    choose() {
      const [idlest] = [...threads].sort((a, b) => a.busyCount - b.busyCount);
      if (idlest && (idlest.busyCount < maxBusyInstances || threads.size >= maxThreads)) return idlest;
      const thread = startThread(options, () => threads.delete(thread));
      threads.add(thread);
      return thread;
    },
    kill: async () => {
      await Promise.all([...threads].map((thread) => thread.terminate()));
    },
  };
}

function getCpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
}

function startThread(
  { worker: program, onCall, onWrite, log, ...workerData }: ThreadsOptions,
  onEnd: () => void,
): FunctionThread & { terminate(): Promise<void> } {
  const instanceIds = new Set<number>();
  const busy = new Map<number, (outcome: ThreadOutcome) => void>();
  /** Instances at their time limit, and whether the thread has ended them. */
  const endings = new Map<number, boolean>();
  let hasThreadEnded = false;
  const worker = new Worker(program, {
    workerData,
    // The loaders of this process, such as tsx, would double the time of a start. The bundles are JavaScript.
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
  });
  const settle = (id: number, outcome: ThreadOutcome): void => {
    if ('hasEnded' in outcome) instanceIds.delete(id);
    busy.get(id)?.(outcome);
    busy.delete(id);
  };
  const end = (error = 'The thread of the functions ended.'): void => {
    hasThreadEnded = true;
    onEnd();
    for (const id of [...busy.keys()]) settle(id, { error, hasEnded: true });
    instanceIds.clear();
  };
  const terminate = async (): Promise<void> => {
    end();
    await worker.terminate();
  };
  worker.on('message', (message: MessageFromThread) => {
    if ('outcome' in message) {
      if (!endings.has(message.instanceId)) settle(message.instanceId, message.outcome);
    } else if ('call' in message) onCall(message.call);
    else if ('hasWritten' in message) onWrite();
    else if ('endedInstanceId' in message) endings.set(message.endedInstanceId, true);
    else {
      log(`${message.uncaughtError}\n`);
      settle(message.instanceId, { error: message.uncaughtError, hasEnded: true });
      instanceIds.delete(message.instanceId);
    }
  });
  worker.on('error', (error) => {
    log(`${error.stack}\n`);
    end(String(error.stack));
  });
  worker.on('exit', () => end());
  for (const stream of [worker.stdout, worker.stderr]) stream.on('data', (chunk) => log(String(chunk)));
  const post = (message: MessageToThread): void => worker.postMessage(message);

  /** Ends an instance at its time limit, and the thread if it does not respond: its code runs without end. */
  const endInstance = async (id: number): Promise<void> => {
    post({ endedInstanceId: id });
    endings.set(id, false);
    const startedAt = process.cpuUsage();
    const hasEnded = () => endings.get(id) || hasThreadEnded;
    while (!hasEnded() && getCpuMs(startedAt) < maxBlockedCpuMs) await sleep(blockedPollMs);
    settle(id, { timedOut: true, hasEnded: true });
    if (!hasEnded()) await terminate();
    endings.delete(id);
  };
  return {
    get busyCount() {
      return busy.size;
    },
    hasInstance: (id) => instanceIds.has(id),
    async invoke(invocation) {
      const { instanceId, timeoutMs } = invocation;
      if (hasThreadEnded) return { error: 'The thread of the functions ended.', hasEnded: true };
      instanceIds.add(instanceId);
      const outcome = new Promise<ThreadOutcome>((resolve) => busy.set(instanceId, resolve));
      const timer = setTimeout(() => void endInstance(instanceId), timeoutMs);
      post({ invocation });
      const result = await outcome;
      clearTimeout(timer);
      return result;
    },
    terminate,
  };
}
