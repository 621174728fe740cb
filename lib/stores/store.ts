import * as v from 'valibot';
import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { Observation } from '../purchases/observation.ts';
import type { Purchase } from '../purchases/purchase.ts';
import type { Transaction } from '../purchases/transaction.ts';
import type { Platform } from '../shared/platform.ts';
import type { EpochMillis } from '../shared/time.ts';

const Text = v.exactOptional(v.string());

/**
 * A validation as a store adapter gets it: the wire request after the edge has dropped nulls and empty strings and turned
 * numbers-in-text into numbers. `transaction` is untouched; each adapter parses its own variants.
 */
export const ValidationRequest = v.object({
  /** The product to validate, or on store_a the application. */
  id: v.string(),
  type: v.picklist(['application', 'paid subscription', 'non renewing subscription', 'consumable', 'non consumable']),
  transaction: v.looseObject({ type: Text }),
  license: v.exactOptional(v.looseObject({ storeIdKey_collections: Text, storeIdKey_purchases: Text })),
  applicationUsername: Text,
  obfuscatedUsername: Text,
  priceMicros: v.exactOptional(v.number()),
  currency: Text,
  /** Number of `billingPeriodUnit` between payments; the only hint of the length of a non-renewing subscription. */
  billingPeriod: v.exactOptional(v.number()),
  billingPeriodUnit: v.exactOptional(v.picklist(['Day', 'Week', 'Month', 'Year'])),
});
export type ValidationRequest = v.InferOutput<typeof ValidationRequest>;

/** What an adapter may use while it asks its store. */
export interface StoreContext {
  /** The application's name, from the verified credential. */
  readonly appName: string;
  /** The application's settings for this store, decrypted, or undefined when none are set; the adapter parses them. */
  readonly settings: unknown;
  /** Records the call in the event, applies `timeoutMs` (default 6,000) and, against the emulator, changes the host. */
  readonly fetch: StoreFetch;
  readonly now: () => EpochMillis;
  /**
   * Runs `charge` at most once for the key, over all containers and retries, and returns its (JSON) result again on every
   * later call. While another call is charging it throws `Conflict`. When an earlier call ended without a known result,
   * `recover` is asked first: it finds out at the store what became of it, and gives undefined when nothing was charged.
   */
  readonly runOnce: <T extends object>(
    key: string,
    charge: () => Promise<T>,
    recover: () => Promise<T | undefined>,
  ) => Promise<T>;
  /** What an access token that this service issued stands for; undefined for one that it did not, or that has ended. */
  readonly findGrant?: (accessToken: string) => Promise<AccessGrant | undefined>;
  /** What the table keeps for asking about a purchase (prefixed id) again; undefined for one that is not known. */
  readonly findRefreshToken?: (purchaseId: string) => Promise<Readonly<Record<string, string>> | undefined>;
  /** A purchase (prefixed id) as the table has it; undefined for one that is not known. */
  readonly findPurchase?: (purchaseId: string) => Promise<Purchase | undefined>;
  /** The transactions of a purchase (prefixed id) as the table has them. */
  readonly listTransactions?: (purchaseId: string) => Promise<readonly Transaction[]>;
  /** The same by their own (prefixed) id: what was bought with one order may have one in common. Not for a validation. */
  readonly listTransactionsById?: (transactionId: string) => Promise<readonly Transaction[]>;
  /** DER certificates to trust beside the store's own pinned roots; only the local emulator has any. */
  readonly extraRoots: readonly Uint8Array[];
}

/** What an access token opens at processor_a, in its own ids: a buyer, from the first session on. */
export interface AccessGrant {
  readonly session?: string;
  readonly customer?: string;
  readonly subscription?: string;
}

/** `fetch` with a deadline; rejects with a `ServiceError` `ConnectionFailed` when there is no answer in time. */
export type StoreFetch = (url: string, init?: StoreRequest) => Promise<StoreResponse>;

export interface StoreRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs?: number;
}

/** A store's answer, read to its end (at most 6 MB). */
export interface StoreResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** What came of a validation. */
export interface StoreValidation {
  /** `data.id`: the bundle id on store_a, the product id elsewhere. */
  readonly id: string;
  /**
   * Whether the answer depends on one product. A store_a request that names the bundle id, whatever its `type`, asks for
   * all that the store account owns (`application`): that succeeds with nothing owned, too.
   */
  readonly scope: 'application' | 'product';
  /** Everything that the evidence and the store show; the purchases of the answer's collection. */
  readonly observations: readonly Observation[];
  /** The purchase that the request (or its signed transaction) is about; undefined when the receipt does not hold it. */
  readonly purchaseId?: string;
  /** `data.transaction`: native detail, without its `type` (the edge echoes the request's) and `transactionId`. */
  readonly nativeTransaction: Readonly<Record<string, unknown>>;
  readonly ineligibleForIntroPrice: readonly string[];
  /** Set when the store could not be asked and signed evidence alone was used. */
  readonly warning?: string;
  readonly appDownload?: { readonly currentVersion?: string; readonly originalVersion?: string };
}

/** A server notification as it came, before anything of it is believed. */
export interface RawNotification {
  readonly method: 'GET' | 'POST';
  /** The bytes of the body as UTF-8 text, untouched. */
  readonly body: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** One thing that a store tells of, verified or from a call to the store itself. It travels through a queue (200 KB). */
export const StoreNotification = v.object({
  /** The store's idempotency key, the same for every delivery of the same notification. */
  key: v.string(),
  /** The native type, as events show it: `DID_FAIL_TO_RENEW.GRACE_PERIOD`. */
  type: v.string(),
  /** When it happened by the store's clock, in epoch milliseconds: a moment that a date can name. */
  occurredAt: v.pipe(v.number(), v.minValue(0), v.maxValue(8.64e15)),
  /** What `observe` of the same adapter needs to know; never shown to anybody. */
  payload: v.record(v.string(), v.unknown()),
});
export type StoreNotification = v.InferOutput<typeof StoreNotification>;

/** What came in with one notification. */
export interface ReceivedNotifications {
  readonly notifications: readonly StoreNotification[];
  /** The text to answer with, where the store expects one (a challenge). */
  readonly responseText?: string;
}

/** What a message turned out to tell. */
export interface ObservedNotification {
  /** What the native type says in our words; the stored and the observed state have the last word. */
  readonly reason: NotificationReason;
  /** The purchases concerned as the store shows them now, or as the signed message shows them; none for a test. */
  readonly observations: readonly Observation[];
  /** Set when the store's price list changed. */
  readonly pricesChanged?: true;
}

/** A store or processor. The optional methods are its capabilities. */
export interface Store {
  readonly platform: Platform;
  /**
   * Checks a receipt. An expired, refunded or foreign-product receipt is a result, not an error: the caller decides from
   * `purchaseId` and the purchase's state. Throws `InvalidPayload` for what the store did not sign or issue to this
   * application, `ConnectionFailed` when it cannot be known now, `InternalError` for settings that the store refuses.
   */
  validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation>;
  /**
   * Checks `asking.settings`: their form, and with `askStore` by a call that changes nothing. Returns a sentence for the
   * operator; throws `InvalidPayload` for a wrong form, `InternalError` with a clear message when the store refuses them.
   */
  checkSettings(context: StoreContext, options: { readonly askStore: boolean }): Promise<string>;
  /**
   * The purchase (prefixed id) that a request is about, told from the request alone: a purchase token, not something that
   * others could guess. While the store is out of reach, its last verified state then answers.
   */
  identifyPurchase?(request: ValidationRequest): string | undefined;
  /**
   * Called once everything that the validation showed is stored: the moment to acknowledge or consume at the store, where
   * the settings say so. Returns what changed; a failure is recorded and does not fail the validation.
   */
  fulfill?(validation: StoreValidation, context: StoreContext): Promise<readonly Observation[]>;
  /** The state now of what a refresh token stands for. Throws like `validate`. */
  refresh?(refreshToken: Readonly<Record<string, string>>, context: StoreContext): Promise<readonly Observation[]>;
  /**
   * Verifies a notification on its raw bytes and takes it apart, within a second. Throws `Forbidden` for what the store did
   * not send to this application, `InvalidPayload` for what can never be understood, `ConnectionFailed` when it should be
   * sent again.
   */
  receive?(raw: RawNotification, context: StoreContext): Promise<ReceivedNotifications>;
  /**
   * The state of what a message is about: asked of the store, or taken from its verified signed payload. A type that is
   * not known is `OTHER` and never fails. Throws like `validate`; the message is then processed again later.
   */
  observe?(message: StoreNotification, context: StoreContext): Promise<ObservedNotification>;
  /** Messages since `since` (epoch milliseconds) that a store without push holds ready, or that it failed to deliver. */
  listUndelivered?(since: EpochMillis, context: StoreContext): Promise<readonly StoreNotification[]>;
  /** Called once what `missed` gave is safely on its way: the moment to delete it at the store. */
  confirmEnqueued?(messages: readonly StoreNotification[], context: StoreContext): Promise<void>;
}
