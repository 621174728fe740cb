import type * as v from 'valibot';

/** The API key that an endpoint requires. An endpoint that accepts the public key also accepts the secret key. */
type KeyLevel = 'public' | 'secret' | 'none';

/** Format of the error responses of an endpoint; see docs/decisions/api.md. */
export type ErrorFormat = 'default' | 'validation' | 'processor' | 'client-token' | 'openiap';

type Area =
  | 'app'
  | 'validation'
  | 'credits'
  | 'customers'
  | 'due'
  | 'entitlements'
  | 'purchases'
  | 'refunds'
  | 'transactions'
  | 'stats'
  | 'stores'
  | 'events'
  | 'stripe'
  | 'braintree'
  | 'search'
  | 'service'
  | 'webhooks';

/** Items that an endpoint can write. infra/written-keys.ts has their partition keys. */
export type WrittenItems =
  | 'accessTokens'
  | 'annotations'
  /** Of an app, with the forwards of its store notifications. */
  | 'catalogue'
  | 'credits'
  | 'customers'
  /** Of webhooks, with the health of their URLs. */
  | 'deliveries'
  /** Removed when their customer returns. */
  | 'erasedNames'
  /** Idempotent runs, and results of store adapters. */
  | 'operations'
  | 'priceLists'
  /** With their customers, user aliases, and erased names. */
  | 'purchases'
  | 'refundRequests'
  | 'tokenKeys'
  | 'urlHealth'
  | 'vault';

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One endpoint as clients see it. Its handler is `functions/<area>/<id>.ts`. */
export interface Contract {
  readonly id: string;
  readonly area: Area;
  readonly summary: string;
  readonly method: HttpMethod;
  /** The documented path, with `:name` for a parameter. */
  readonly path: `/${string}`;
  /** Other paths that released clients call; the same function serves them. */
  readonly aliases: readonly `/${string}`[];
  readonly keyLevel: KeyLevel;
  readonly errorFormat: ErrorFormat;
  /** An `Authorization: Bearer` header with the key alone is sufficient. The key then identifies the app. */
  readonly acceptsBareKey?: true;
  /** Type of the event that records a call. */
  readonly eventType: string;
  readonly params?: v.GenericSchema<Record<string, string>, unknown>;
  readonly query?: v.GenericSchema<unknown, unknown>;
  readonly body?: v.GenericSchema<unknown, unknown>;
  readonly response: v.GenericSchema<unknown, unknown>;
  /** HTTP statuses of a success if there are others than 200. */
  readonly successStatuses?: readonly (200 | 201)[];
  /** Levels of keys that may call the contract although it changes data or reads secrets. */
  readonly additionalLevels?: readonly ('viewer' | 'support')[];
  /** A response may need thousands of reads. The function then gets a full vCPU and the gateway's whole timeout. */
  readonly isLongRunning?: true;
  /**
   * Query parameter with which a GET request changes data. A viewer key must not send it. A viewer key cannot call a
   * contract with the permission `write` and without this parameter.
   */
  readonly writingParameter?: string;
  /**
   * IAM permissions of the function in addition to reading items and recording its event. `secrets` and `stores`
   * include the master key, without which a function cannot record purchases. `write` allows changes of the items in
   * `writes`, and none of the settings of an app: see infra/settings-writes.ts.
   */
  readonly permissions: readonly (
    | 'write'
    | 'stores'
    | 'indexes'
    | 'userIndex'
    | 'due'
    | 'secrets'
    | 'webhooks'
    | 'streamFailures'
  )[];
  /** The items that the function writes besides events. Its policy allows no others. */
  readonly writes?: readonly WrittenItems[];
}

type Output<S> = S extends v.GenericSchema ? v.InferOutput<S> : undefined;

export type ContractParams<C extends Contract> = Output<C['params']>;
export type ContractQuery<C extends Contract> = Output<C['query']>;
export type ContractBody<C extends Contract> = Output<C['body']>;
export type ContractResponse<C extends Contract> = v.InferInput<C['response']>;

/**
 * The response has decrypted secrets, so no viewer key may call it unless the contract allows viewer
 * keys.
 */
export const isForSecretKeyOnly = ({
  permissions,
  additionalLevels = [],
}: Pick<Contract, 'permissions' | 'additionalLevels'>): boolean =>
  permissions.includes('secrets') && !additionalLevels.includes('viewer');

/** Returns the contract unchanged, with its literal types. */
// @__NO_SIDE_EFFECTS__
export function defineContract<const C extends Contract>(definition: C): C {
  return definition;
}
