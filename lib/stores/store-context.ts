import type { Catalogue } from '../apps/catalogue.ts';
import type { Stopwatch } from '../foundation/stopwatch.ts';
import type { RunOnce, StoredResults } from '../foundation/stored-operations.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { Purchase } from '../purchases/purchase.ts';
import type { Transaction } from '../purchases/transaction.ts';

/**
 * Everything a store adapter may use during one operation. Created per operation by `createStoreContext`.
 *
 * The optional members read stored data. They are absent when an operator checks settings from the CLI.
 */
export interface StoreContext {
  /** Name of the app, taken from the verified credentials or from the notification URL. */
  readonly appName: string;
  /**
   * Decrypted settings of the app for this store. Undefined if the app does not use the store. The adapter parses them.
   */
  readonly settings: unknown;
  /** The app's products. Empty if the operator has set none. Use `findCatalogueProduct`. */
  readonly catalogue?: Catalogue;
  readonly fetch: StoreFetch;
  /** Returns the current time of the service, in epoch milliseconds. The local runtime can move this clock. */
  readonly now: () => EpochMillis;
  /** Measures the time budget of the operation. */
  readonly stopwatch: Stopwatch;
  /**
   * Throws `ConnectionFailed` if the store does not return an amount because it is unavailable. Otherwise the amount
   * stays unknown, because a validation must grant access.
   */
  readonly requiresAmounts?: boolean;
  /**
   * `validate` throws `InternalError` if the settings lack the credentials for a query of the store. Otherwise the
   * result relies on a signed receipt alone, which lacks later renewals and refunds.
   */
  readonly requiresQuery?: boolean;
  readonly runOnce: RunOnce;
  /** Results that the adapter keeps, by its own key. */
  readonly storedResults?: StoredResults;
  /** Returns the access grant of a token issued by this service. Undefined for unknown and expired tokens. */
  readonly findAccessGrant?: (accessToken: string) => Promise<AccessGrant | undefined>;
  /**
   * Returns the random id under which clients refer to a customer of the processor's vault. It proves a purchase of the
   * customer, so it must be shown only to the buyer.
   */
  readonly getVaultReference?: (customerId: string) => Promise<string>;
  /** Returns the stored refresh token of a purchase. `purchaseId` is prefixed (`store_c:…`), as in the next members. */
  readonly findRefreshToken?: (purchaseId: string) => Promise<Readonly<Record<string, string>> | undefined>;
  /** Returns the stored state of a purchase. */
  readonly findPurchase?: (purchaseId: string) => Promise<Purchase | undefined>;
  /** Returns the as-of time of the stored state of a purchase. */
  readonly findObservedAt?: (purchaseId: string) => Promise<EpochMillis | undefined>;
  /** Returns the stored transactions of a purchase. */
  readonly listTransactions?: (purchaseId: string) => Promise<readonly Transaction[]>;
  /**
   * Returns the stored transactions with a prefixed transaction id. Purchases of one order can share it. Reads an
   * eventually consistent index. The function of `validate` is not permitted to read it.
   */
  readonly listTransactionsById?: (transactionId: string) => Promise<readonly Transaction[]>;
  /**
   * DER certificates that are trusted in addition to the store's pinned roots. Empty except with the local emulator.
   */
  readonly extraRoots: readonly Uint8Array[];
}

/** Ids at Stripe to which an access token grants access. Stripe's own ids, without prefix. */
export interface AccessGrant {
  readonly session?: string;
  readonly customer?: string;
  readonly subscription?: string;
}

/**
 * Sends one HTTPS request to a store and reads the response completely (at most 6 MB). Each call is recorded in the
 * request log. Returns every HTTP status. Throws `ConnectionFailed` without a complete response in time.
 */
export type StoreFetch = (url: string, init?: StoreFetchOptions) => Promise<StoreResponse>;

export interface StoreFetchOptions {
  /** Default: `GET`. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Limit for the whole call, including the body. Default: 6,000. */
  readonly timeoutMs?: number;
}

export interface StoreResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, decoded as UTF-8. */
  readonly text: string;
}
