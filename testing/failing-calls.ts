import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * Failure of one network call: the request is lost, the response is lost, or the function crashes before or after the
 * call, so that all its later calls fail, too.
 */
export const failureModes = ['request lost', 'response lost', 'crash before', 'crash after'] as const;
export type FailureMode = (typeof failureModes)[number];

/** Replaces the network calls of this process. One selected call fails. */
export interface FailingCalls {
  /** Returns the number of calls since the last `failAt`. */
  count(): number;
  /** Restarts the count and makes the n-th call fail. Without arguments no call fails. */
  failAt(number?: number, failure?: FailureMode): void;
  /** Counts `call` as a network call. */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Removes the interception. */
  restore(): void;
}

type WrapCall = <T>(call: () => Promise<T>) => Promise<T>;

/** Intercepts the calls of DynamoDB document clients and of `fetch`, until `restore`. */
export function interceptCalls(): FailingCalls {
  let callCount = 0;
  let failingCall = 0;
  let mode: FailureMode = 'request lost';
  const run: WrapCall = async (call) => {
    callCount++;
    const isFailing = callCount === failingCall;
    const isAfterCrash = failingCall > 0 && callCount > failingCall && mode.startsWith('crash');
    if (isAfterCrash || (isFailing && (mode === 'request lost' || mode === 'crash before'))) {
      throw new Error('no connection');
    }
    const result = await call();
    if (isFailing) throw new Error('the connection was lost');
    return result;
  };
  const restoreTable = wrapSend(run);
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (...request) => await run(async () => await realFetch(...request));
  return {
    count: () => callCount,
    failAt(number = 0, failure = 'request lost') {
      [callCount, failingCall, mode] = [0, number, failure];
    },
    run,
    restore() {
      globalThis.fetch = realFetch;
      restoreTable();
    },
  };
}

type Send = (...values: unknown[]) => Promise<unknown>;

function wrapSend(run: WrapCall): () => void {
  const prototype: { send: Send } = DynamoDBDocumentClient.prototype as { send: Send };
  const inherited = prototype.send;
  const isOwn = Object.hasOwn(prototype, 'send');
  prototype.send = async function send(this: unknown, ...values) {
    return await run(async () => await inherited.apply(this, values));
  };
  return () => {
    if (isOwn) prototype.send = inherited;
    else Reflect.deleteProperty(prototype, 'send');
  };
}
