import { AsyncLocalStorage } from 'node:async_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { type Container, setContainerLookup } from '../lib/foundation/container.ts';
import { createRequestHandler } from '../lib/foundation/outgoing/aws-client.ts';
import { overrideDate } from '../lib/foundation/override-date.ts';
import { type AwsAccess, createCheckedHandler } from './checked-aws-calls.ts';
import type { CallDecision } from './iam-usage.ts';

/** The code of a function and its environment, which the thread has for all functions. */
export interface FunctionCode {
  /** `file:` URL of the bundle. */
  readonly module: string;
  readonly exportName: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface ThreadData {
  readonly clockOffset: SharedArrayBuffer;
  /** By name. */
  readonly functions: ReadonlyMap<string, FunctionCode>;
  readonly access: AwsAccess;
  /** Reports each AWS call, and not only the first one of each kind. */
  readonly reportsAllCalls: boolean;
}

/** One invocation. An instance has one at a time, and begins with its first one. */
export interface Invocation {
  readonly instanceId: number;
  readonly functionName: string;
  /** The event, in JSON. */
  readonly payload: string;
  readonly context: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** The result as JSON, or the error that the handler threw. */
export type InvocationOutcome = { readonly result: string } | { readonly error: string };

export type MessageToThread = { readonly invocation: Invocation } | { readonly endedInstanceId: number };

export type MessageFromThread =
  | { readonly instanceId: number; readonly outcome: InvocationOutcome }
  /** An error that no code of the instance handles. It ends the instance. */
  | { readonly instanceId: number; readonly uncaughtError: string }
  | { readonly endedInstanceId: number }
  | { readonly call: CallDecision }
  | { readonly hasWritten: true };

type Handler = (event: unknown, context: object) => unknown;

interface Instance extends Container {
  readonly id: number;
  readonly environment: Readonly<Record<string, string>>;
  isEnded: boolean;
}

/** Writes within this time are reported together: a reader of the stream then reads them together, too. */
const writeReportMs = 10;

const { clockOffset, functions, access, reportsAllCalls } = workerData as ThreadData;
const post = (message: MessageFromThread): void => parentPort?.postMessage(message);
const instances = new Map<number, Instance>();
const running = new AsyncLocalStorage<Instance>();
const awsHandler = createRequestHandler();
const reported = new Set<string>();
let hasUnreportedWrites = false;

function reportCall(call: CallDecision): void {
  const kind = `${call.callerId} ${'denial' in call.decision ? call.decision.denial : call.target}`;
  if (reported.has(kind) && !reportsAllCalls) return;
  reported.add(kind);
  post({ call });
}

function reportWrite(): void {
  if (hasUnreportedWrites) return;
  hasUnreportedWrites = true;
  setTimeout(() => {
    hasUnreportedWrites = false;
    post({ hasWritten: true });
  }, writeReportMs);
}

function createInstance({ instanceId, functionName }: Invocation, { environment }: FunctionCode): Instance {
  const caller = {
    id: functionName,
    isEnded: () => instance.isEnded,
    onCall: reportCall,
    onWrite: reportWrite,
  };
  const requestHandler = createCheckedHandler(caller, access, awsHandler);
  const instance: Instance = { id: instanceId, environment, isEnded: false, clientOptions: { requestHandler } };
  instances.set(instanceId, instance);
  return instance;
}

async function invoke(invocation: Invocation): Promise<void> {
  const { instanceId, functionName, payload, context, timeoutMs } = invocation;
  const code = functions.get(functionName);
  if (!code) throw new Error(`${functionName} is not a function of this thread.`);
  const instance = instances.get(instanceId) ?? createInstance(invocation, code);
  const endsAt = performance.now() + timeoutMs;
  const getRemainingTimeInMillis = () => Math.max(0, endsAt - performance.now());
  const outcome = await running.run(instance, async (): Promise<InvocationOutcome> => {
    try {
      const { [code.exportName]: handler } = (await import(code.module)) as Readonly<Record<string, Handler>>;
      if (!handler) throw new Error(`${code.module} has no export ${code.exportName}.`);
      const result = await handler(JSON.parse(payload), { ...context, getRemainingTimeInMillis });
      return { result: JSON.stringify(result ?? null) };
    } catch (error) {
      return { error: describeError(error) };
    }
  });
  if (!instance.isEnded) post({ instanceId, outcome });
}

const describeError = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

function endInstance(id: number): void {
  const instance = instances.get(id);
  if (instance) instance.isEnded = true;
  instances.delete(id);
}

const offset = new Float64Array(clockOffset);
overrideDate(() => offset[0] ?? 0);
setContainerLookup(() => running.getStore());
Object.defineProperty(process, 'env', { get: () => running.getStore()?.environment ?? {} });
process.on('uncaughtException', (error) => {
  const { id: instanceId } = running.getStore() ?? {};
  // Outside an invocation, it ends the thread.
  if (instanceId === undefined) throw error;
  endInstance(instanceId);
  post({ instanceId, uncaughtError: describeError(error) });
});
parentPort?.on('message', (message: MessageToThread) => {
  if ('invocation' in message) void invoke(message.invocation);
  else {
    endInstance(message.endedInstanceId);
    post(message);
  }
});
