import * as v from 'valibot';
import { OptionalNumber, OptionalText } from '../api/schemas.ts';
import type { Platform } from '../foundation/platform.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import type { Observation } from '../purchases/observation.ts';
import type { RenewalNotice } from '../purchases/purchase.ts';
import type { ActionRequest, StoreAnswer } from './purchase-action.ts';
import type { RefundAnswer, StoreRefundOutcome, StoreRefundRequest } from './refund-request.ts';
import type { Diagnosis, SettingsRejection, SettingsWarning } from './settings.ts';
import type { SettingsForm } from './settings-form.ts';
import type { StoreContext } from './store-context.ts';
import type { StoreRequest } from './store-request-contract.ts';

/**
 * An adapter for one store or payment processor. Adapters translate between the store's API and `Observation`s. They do
 * not read or write the table, except through `StoreContext`.
 *
 * A missing optional method means that the store lacks the capability.
 *
 * If not noted differently, methods throw a `ServiceError` with one of these codes:
 * - `InvalidPayload`: the input can never be accepted, for example a receipt that belongs to another app.
 * - `ConnectionFailed`: the store is unavailable. The caller can retry.
 * - `InternalError`: the settings are unusable or the store rejected them. The operator must correct them.
 */
export interface Store {
  readonly platform: Platform;

  /** Fields of the settings. */
  readonly settingsForm: SettingsForm;

  /**
   * Verifies the evidence of a `POST /v1/validate` request and queries the store for the current state.
   *
   * Expired, refunded and unrelated purchases are results, not errors: the caller decides by `purchaseId` and the
   * purchase state. Also throws `NeedMoreData` if the client must send further credentials first (Microsoft Store).
   */
  validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation>;

  /**
   * Checks `context.settings` for the operator's CLI: their format and, with `callStore`, one call that changes nothing
   * at the store. Returns a sentence for the operator. Throws `InvalidPayload` for an invalid format.
   */
  checkSettings(context: StoreContext, options: CheckSettingsOptions): Promise<string>;

  /** Explains a rejection of these settings to the operator. */
  describeRejection(rejection: SettingsRejection, settings: unknown): Diagnosis;

  /**
   * Lists problems of settings that `checkSettings` accepts, with at most a few calls that change nothing at the store.
   */
  listSettingsWarnings(context: StoreContext): Promise<readonly SettingsWarning[]>;

  /**
   * Returns the prefixed id of the requested purchase if the request alone identifies it by a secret, such as a
   * purchase token. While the store is unavailable, the API returns the last verified state for this request.
   */
  identifyPurchase?(request: ValidationRequest): string | undefined;

  /**
   * Acknowledges or consumes the purchases at the store if the settings require it. Called after the observations of a
   * validation, a notification or a refresh are stored. Returns the changed purchases. Use `tryFulfill`.
   */
  fulfill?(request: FulfillmentRequest, context: StoreContext): Promise<readonly Observation[]>;

  /** Queries the current state of a purchase. `refreshToken` comes from an earlier observation of this adapter. */
  refresh?(refreshToken: Readonly<Record<string, string>>, context: StoreContext): Promise<readonly Observation[]>;

  /**
   * Performs an action of support at the store. Throws `Conflict` if the store rejects it for good. The state after it
   * comes from `refresh`.
   */
  performAction?(request: ActionRequest, context: StoreContext): Promise<StoreAnswer>;

  /** Validates an action at the store without performing it. */
  checkAction?(request: ActionRequest, context: StoreContext): Promise<StoreAnswer>;

  /**
   * Verifies a notification on its raw bytes and parses it. Called while the store waits for the response, so it should
   * finish within a second. `observe` does the rest later.
   *
   * Throws `Forbidden` if the store did not send the notification to this app, `InvalidPayload` if it can never be
   * parsed and `ConnectionFailed` if the store should send it again.
   */
  receive?(raw: RawNotification, context: StoreContext): Promise<ReceivedNotifications>;

  /**
   * Determines the state of the purchases that a notification concerns, from the store's API or from the signed
   * payload. Called by a queue worker, at least once per notification and in any order. An unknown type returns the
   * reason `OTHER`.
   */
  observe?(notification: StoreNotification, context: StoreContext): Promise<ObservedNotification>;

  /**
   * Returns what the verified notification proves about a subscription without a query: that it has renewed, or has
   * ended. Called if `observe` cannot query the store.
   */
  findRenewalNotice?(notification: StoreNotification): { purchaseId: string; notice: RenewalNotice } | undefined;

  /**
   * Lists notifications that occurred after `since` and that the store failed to deliver or holds for polling. Called
   * on a schedule. Notifications that were handled already may be included.
   */
  listUndelivered?(since: EpochMillis, context: StoreContext): Promise<readonly StoreNotification[]>;

  /**
   * Lists all notifications that occurred after `since` and that the store keeps, also those it has delivered. Called
   * for a restored table, which lacks the notifications after the restored time. Default: `listUndelivered`.
   */
  listNotifications?(since: EpochMillis, context: StoreContext): Promise<readonly StoreNotification[]>;

  /**
   * Sends the app's statement about a refund. Stores accept only the first one, so it must not be called with another
   * one later. Throws `InvalidPayload` if the store rejects it.
   */
  answerRefundRequest?(request: StoreRefundRequest, answer: RefundAnswer, context: StoreContext): Promise<void>;

  /** Deletes notifications at the store. Called after the result of `listUndelivered` is safely enqueued. */
  deleteEnqueued?(notifications: readonly StoreNotification[], context: StoreContext): Promise<void>;
}

export interface CheckSettingsOptions {
  readonly callStore: boolean;
}

/**
 * A request to `POST /v1/validate`, normalized by `toValidationRequest`: without nulls and empty strings, and with
 * numbers instead of numeric strings. Each adapter parses its own variants of `transaction`.
 */
export const ValidationRequest = v.object({
  /** The requested product, without prefix. On the App Store it can be the bundle id of the app. */
  id: v.string(),
  type: v.picklist(['application', 'paid subscription', 'non renewing subscription', 'consumable', 'non consumable']),
  transaction: v.looseObject({ type: OptionalText }),
  license: v.exactOptional(v.looseObject({ storeIdKey_collections: OptionalText, storeIdKey_purchases: OptionalText })),
  applicationUsername: OptionalText,
  obfuscatedUsername: OptionalText,
  /** Price of one unit in millionths of `currency`. Used only if the store reports no amount. */
  priceMicros: OptionalNumber,
  /** ISO 4217 code. */
  currency: OptionalText,
  /** Number of `billingPeriodUnit`s per period. The only source for the length of a non-renewing subscription. */
  billingPeriod: OptionalNumber,
  billingPeriodUnit: v.exactOptional(v.picklist(['Day', 'Week', 'Month', 'Year'])),
  /** Products of the app with their subscription group, as far as the client sends them. */
  products: v.exactOptional(v.array(v.object({ id: v.string(), group: OptionalText }))),
});
export type ValidationRequest = v.InferOutput<typeof ValidationRequest>;

/** The result of a validation. */
export interface StoreValidation {
  /**
   * `data.id` of the response, without prefix: the bundle id for scope `application`, otherwise the requested product
   * id.
   */
  readonly id: string;
  /**
   * - `product`: the validation succeeds only if the customer owns the requested product.
   * - `application`: the client requests everything the store account owns. Succeeds even if it owns nothing. Only on
   *   the App Store, for a request of type `application` or with the bundle id as `id`.
   */
  readonly scope: 'application' | 'product';
  /** All purchases found in the evidence and at the store. They become the collection of the response. */
  readonly observations: readonly Observation[];
  /** The store is unavailable, so that stored purchases of the customer at the store complete the collection. */
  readonly isOffline?: true;
  /**
   * The store's preferred API is unavailable. The result is from another one, which reports less, such as no amounts.
   */
  readonly isFallback?: true;
  /**
   * Prefixed ids of observed purchases that are not in the collection, because clients would credit them again. One
   * validation records a limited number of them.
   */
  readonly unlistedPurchaseIds?: readonly string[];
  /** Prefixed id of the requested purchase. Undefined if the evidence does not contain it. */
  readonly purchaseId?: string;
  /** Store-specific members of `data.transaction`, without `type`: the response repeats the type of the request. */
  readonly nativeTransaction: Readonly<Record<string, unknown>>;
  /** Product ids without prefix whose introductory price the store account cannot use. */
  readonly ineligibleForIntroPrice: readonly string[];
  /** The client validates the requested purchase as a consumable, which it consumes unless the service does. */
  readonly clientConsumes?: boolean;
  /** Deadline of `fulfill` on the stopwatch: a validation and its fulfillment share one time budget. */
  readonly fulfillDeadline?: number;
  /** A sentence for the client. Set if the result does not rely on the store's preferred API. */
  readonly warning?: string;
  /** Versions of the app at the download and now. Only on the App Store. */
  readonly appDownload?: { readonly currentVersion?: string; readonly originalVersion?: string };
}

/** Stored purchases to acknowledge or consume. Only a validation names the requested purchase. */
export type FulfillmentRequest = Pick<StoreValidation, 'observations' | 'purchaseId' | 'fulfillDeadline'> &
  Partial<Pick<StoreValidation, 'nativeTransaction' | 'clientConsumes'>>;

/** An inbound HTTP request at a notification endpoint. Nothing in it has been verified. */
export interface RawNotification {
  readonly method: 'GET' | 'POST';
  /** The unmodified body, decoded as UTF-8. Signatures cover exactly these bytes. */
  readonly body: string;
  /** Keys are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** Maximum time value of an ECMAScript `Date`. */
const maxDateMs = 8.64e15;

/** A verified notification. It is sent through an SQS queue, so `payload` must stay below 200 KB. */
export const StoreNotification = v.object({
  /** Idempotency key: the store's id of the notification, equal for all deliveries of it. */
  key: v.string(),
  /** The store's own type for the request log, for example `DID_FAIL_TO_RENEW.GRACE_PERIOD`. */
  type: v.string(),
  /** Time of the notification on the store's clock, in epoch milliseconds. */
  occurredAt: v.pipe(v.number(), v.minValue(0), v.maxValue(maxDateMs)),
  /** Input for `observe` of the same adapter. Internal: it never appears in logs or responses. */
  payload: v.record(v.string(), v.unknown()),
});
export type StoreNotification = v.InferOutput<typeof StoreNotification>;

/** The content of one HTTP request of a store. */
export interface ReceivedNotifications {
  /** Empty for a challenge, which only needs a response. */
  readonly notifications: readonly StoreNotification[];
  /** Body of the HTTP response if the store expects one, such as the response to a challenge. Default: empty. */
  readonly responseText?: string;
}

/** The effect of one notification. */
export interface ObservedNotification {
  /** Translation of the native type. The change of the purchase state takes precedence over it. */
  readonly reason: NotificationReason;
  /** Current state of the purchases concerned. Empty for a test. */
  readonly observations: readonly Observation[];
  /** The purchase that the notification names, if it was not observed. The event is found by it. */
  readonly unknownPurchaseId?: string;
  /** The store requests a statement about a refund. */
  readonly refundRequest?: StoreRefundRequest;
  /** The store has decided about a refund. */
  readonly refundOutcome?: StoreRefundOutcome;
  /** The store requests something that only the app can do. */
  readonly storeRequest?: StoreRequest;
  /** The price list of Stripe must be reloaded. */
  readonly pricesChanged?: true;
}

/** Loads the adapter of a platform. Throws `InvalidPayload` for a platform without adapter. */
export type LoadStore = (platform: Platform) => Promise<Store>;
