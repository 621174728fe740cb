/** Error codes of the API with number, HTTP status and whether a later retry can succeed. */
export const errorCodes = {
  InvalidPayload: { number: 6778001, status: 400, retryable: false },
  ConnectionFailed: { number: 6778002, status: 502, retryable: true },
  PurchaseExpired: { number: 6778003, status: 419, retryable: false },
  PurchaseConsumed: { number: 6778004, status: 410, retryable: false },
  InternalError: { number: 6778005, status: 500, retryable: true },
  NeedMoreData: { number: 6778006, status: 412, retryable: false },
  Unknown: { number: 6778007, status: 500, retryable: true },
  AppNotFound: { number: 7691001, status: 404, retryable: false },
  Conflict: { number: 7691002, status: 409, retryable: true },
  Forbidden: { number: 7691003, status: 403, retryable: false },
  DatabaseError: { number: 7691004, status: 500, retryable: true },
  ResourceNotFound: { number: 7691005, status: 404, retryable: false },
} as const satisfies Record<string, { number: number; status: number; retryable: boolean }>;

export type ErrorCode = keyof typeof errorCodes;

interface ServiceErrorOptions {
  /** Internal reason; logged, never returned to a client. */
  readonly cause?: unknown;
  /** Replaces whether a later retry can succeed. Ownership by another customer is a result and not a failure. */
  readonly retryable?: boolean;
  /** The same data fails again. A client can retry nevertheless, because an operator can correct the data. */
  readonly isPermanent?: boolean;
  /** Replaces the HTTP status of the code, for example 401 or 413. */
  readonly status?: number;
  /** Value of the `Retry-After` header. */
  readonly retryAfterSeconds?: number;
  /** Members for `data` of a failed validation, for example a service ticket. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** An error with a code of the specification, a public message for the client and an internal cause. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;
  readonly isPermanent: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, publicMessage: string, details: ServiceErrorOptions = {}) {
    super(publicMessage, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? errorCodes[code].status;
    this.data = details.data ?? {};
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.isPermanent = details.isPermanent ?? false;
    this.retryable = details.retryable ?? errorCodes[code].retryable;
  }

  /** The number that clients compare with, for example 6778003. */
  get number(): number {
    return errorCodes[this.code].number;
  }

  /** Converts a caught value to a `ServiceError`. Other errors become `InternalError` with the error as the cause. */
  static fromUnknown(error: unknown, isPermanent = false): ServiceError {
    if (error instanceof ServiceError) return error;
    const message = 'An internal problem prevented processing.';
    return new ServiceError('InternalError', message, { cause: error, isPermanent });
  }
}

export const isPermanent = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.isPermanent;

/** A conditional write failed because another writer has changed the item. */
export const isConflict = (error: unknown): boolean => error instanceof ServiceError && error.code === 'Conflict';

/**
 * Creates the error for settings that the store rejected. `reason` is public: a clause without a period, such as
 * `the API key is not valid`. Details such as status codes belong in `cause`.
 */
export const invalidSettingsError = (storeName: string, reason: string, cause?: unknown): ServiceError =>
  new ServiceError('InternalError', `${storeName} rejected the settings: ${reason}.`, { cause });

/** Whether a text contains the message of this error. An empty name is any store. */
export const reportsInvalidSettings = (text: string, storeName: string): boolean =>
  text.includes(`${storeName} rejected the settings: `);

/** Creates the error for a store that gave no usable response. `storeName` starts the sentence: `Google Play`. */
export const unavailableError = (storeName: string, cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', `${storeName} is unavailable. Try again later.`, { cause });
