import { parentPort, workerData } from 'node:worker_threads';
import { overrideDate } from '../lib/foundation/override-date.ts';

/** Start parameters of a worker thread. */
export interface WorkerData {
  /** `file:` URL of the bundle. */
  readonly module: string;
  readonly exportName: string;
  readonly clockOffset: SharedArrayBuffer;
  /** Whether item calls go to the table engine without the SDK. */
  readonly hasLightTableCalls?: boolean | undefined;
}

/** One invocation, sent to the thread. */
export interface Invocation {
  /** The event, in JSON. */
  readonly payload: string;
  readonly context: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** The result as JSON, or the error that the handler threw. */
export type InvocationOutcome = { readonly result: string } | { readonly error: string };

/** Message from the thread: it has loaded the function, or the outcome of an invocation. */
export type WorkerMessage = { readonly isReady: true } | InvocationOutcome;

type Handler = (event: unknown, context: object) => unknown;

async function invoke(handler: Handler, { payload, context, timeoutMs }: Invocation): Promise<InvocationOutcome> {
  const endsAt = performance.now() + timeoutMs;
  const getRemainingTimeInMillis = () => Math.max(0, endsAt - performance.now());
  try {
    const result = await handler(JSON.parse(payload), { ...context, getRemainingTimeInMillis });
    return { result: JSON.stringify(result ?? null) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

const { module, exportName, clockOffset, hasLightTableCalls } = workerData as WorkerData;
const offset = new Float64Array(clockOffset);
overrideDate(() => offset[0] ?? 0);
if (hasLightTableCalls) {
  const { installLightTableCalls } = await import('./light-table-calls.ts');
  installLightTableCalls(process.env.AWS_ENDPOINT_URL_DYNAMODB);
}
const loaded = (await import(module)) as Readonly<Record<string, Handler>>;
const handler = loaded[exportName];
if (!handler) throw new Error(`${module} has no export ${exportName}.`);
const post = (message: WorkerMessage): void => parentPort?.postMessage(message);
parentPort?.on('message', async (invocation: Invocation) => post(await invoke(handler, invocation)));
post({ isReady: true });
