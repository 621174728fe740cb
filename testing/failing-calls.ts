import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** How a call fails: it is not done, it is done and its answer is lost, or the function dies before it or after it. */
export const failureModes = ['not done', 'answer lost', 'dead before', 'dead after'] as const;
export type FailureMode = (typeof failureModes)[number];

/** The calls of the functions to the outside: to the table, the stores, and what else is made through it. */
export interface FailingCalls {
  /** How many were made since. */
  count(): number;
  /** From now on the n-th call fails so; without a number all succeed. */
  failAt(number?: number, failure?: FailureMode): void;
  /** Makes a call that is one of them. */
  run<T>(call: () => Promise<T>): Promise<T>;
  restore(): void;
}

type Send = (...values: unknown[]) => Promise<unknown>;
interface Client {
  prototype: { send: Send };
}

/** Goes around every call that leaves this process, at the client of the table and at `fetch`. */
export function interceptCalls(): FailingCalls {
  let made = 0;
  let at = 0;
  let how: FailureMode = 'not done';
  const around = async <T>(call: () => Promise<T>): Promise<T> => {
    made++;
    const isHit = made === at;
    const isDead = at > 0 && made > at && how.startsWith('dead');
    if (isDead || (isHit && (how === 'not done' || how === 'dead before'))) throw new Error('no connection');
    const result = await call();
    if (isHit) throw new Error('the connection was lost');
    return result;
  };
  const restore = wrapSend(DynamoDBDocumentClient as unknown as Client, around);
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (...request) => await around(async () => await realFetch(...request));
  return {
    count: () => made,
    failAt(number = 0, failure = 'not done') {
      [made, at, how] = [0, number, failure];
    },
    run: around,
    restore() {
      globalThis.fetch = realFetch;
      restore();
    },
  };
}

function wrapSend({ prototype }: Client, around: <T>(call: () => Promise<T>) => Promise<T>): () => void {
  const real = prototype.send;
  const isOwn = Object.hasOwn(prototype, 'send');
  prototype.send = async function send(this: unknown, ...values) {
    return await around(async () => await real.apply(this, values));
  };
  return () => {
    if (isOwn) prototype.send = real;
    else Reflect.deleteProperty(prototype, 'send');
  };
}
