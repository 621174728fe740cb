import type * as v from 'valibot';

/** Which of the application's keys opens an endpoint; the secret key is accepted wherever the public one is. */
export type KeyLevel = 'public' | 'secret' | 'none';

/** How an endpoint words its errors; see docs/decisions/0003-error-dialects.md. */
export type ErrorFormat = 'default' | 'validation' | 'processor' | 'client-token';

type Area =
  | 'validation'
  | 'customers'
  | 'purchases'
  | 'transactions'
  | 'stats'
  | 'events'
  | 'notifier'
  | 'processor-a'
  | 'processor-b'
  | 'service';

/** One endpoint as its callers see it. Its handler is `functions/<area>/<id>.ts`. */
export interface Contract {
  readonly id: string;
  readonly area: Area;
  readonly summary: string;
  readonly method: 'GET' | 'POST';
  /** The documented path, with `:name` for a parameter. */
  readonly path: `/${string}`;
  /** Further paths of real clients, answered by the same function. */
  readonly aliases: readonly `/${string}`[];
  readonly keyLevel: KeyLevel;
  readonly errorFormat: ErrorFormat;
  /** The type of the event that records a call. */
  readonly eventType: string;
  readonly params?: v.GenericSchema<Record<string, string>, unknown>;
  readonly query?: v.GenericSchema<unknown, unknown>;
  readonly body?: v.GenericSchema<unknown, unknown>;
  readonly response: v.GenericSchema<unknown, unknown>;
  /** An answer may take thousands of reads: the function gets a whole processor, and all the time that the gateway waits. */
  readonly isLongRunning?: true;
  /** What the function may do beyond reading items and recording its event; the stack grants no more. */
  readonly permissions: readonly ('write' | 'stores' | 'indexes' | 'secrets' | 'webhooks')[];
}

type Output<S> = S extends v.GenericSchema ? v.InferOutput<S> : undefined;

export type ContractParams<C extends Contract> = Output<C['params']>;
export type ContractQuery<C extends Contract> = Output<C['query']>;
export type ContractBody<C extends Contract> = Output<C['body']>;
export type ContractResponse<C extends Contract> = v.InferInput<C['response']>;

/** The contract itself, with its literal types kept. */
// @__NO_SIDE_EFFECTS__
export function defineContract<const C extends Contract>(definition: C): C {
  return definition;
}
