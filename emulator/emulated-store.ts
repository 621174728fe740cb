import type { AccountSettingsHolder } from './account-settings.ts';
import type { HttpResponse, StoreHttpRequest } from './http-messages.ts';
import type { NotificationDelivery } from './notification-delivery.ts';
import type { OutgoingNotification } from './outgoing-notification.ts';
import type { ActionBody, PurchaseOrder } from './purchase-order.ts';
import type { RefundRequest } from './refund-request.ts';
import type { Schedule } from './run-due.ts';

/** Registry entry of a store. */
export interface StoreDefinition {
  /** Neutral token, such as `store_a`. */
  readonly platform: string;
  /** Other names that the control API accepts. */
  readonly aliases: readonly string[];
  /** Host names of the real store. The emulator serves each at `/<host>/<path>`. */
  readonly hosts: readonly string[];
  /** Generates the keys of the store; absent if it does not use keys. */
  readonly createKeys?: () => Promise<unknown>;
  readonly open: (context: EmulatedStoreContext) => Promise<EmulatedStore>;
}

/** Services of the emulator for a store. */
export interface EmulatedStoreContext {
  readonly now: () => number;
  /** Return value of `toSavedState` in the previous run; undefined at the first start. */
  readonly savedState: unknown;
  /** Keys for a store without saved state. Default: new ones. */
  readonly savedKeys?: unknown;
  /** Must be called with each server notification that the real store would send. */
  readonly emitNotification: (notification: StoreNotification) => void;
  readonly deliveries: NotificationDeliveries;
}

/** Deliveries of the notifications of one store. */
export interface NotificationDeliveries {
  /** URL of the notification endpoint; undefined if none is set. */
  readonly url: () => string | undefined;
  /** Pending and recent deliveries, the oldest first. Each copy of a notification is a delivery. */
  readonly list: () => readonly NotificationDelivery[];
}

/** Server notification of a store. */
export interface StoreNotification {
  readonly purchaseId: string;
  /** Time of the change, on the emulated clock. */
  readonly at: number;
  /** Payment of the notification, if it is not the latest payment of the purchase. */
  readonly transactionId?: string;
  /** Content in the store's format, for example type and subtype. */
  readonly native: Readonly<Record<string, unknown>>;
}

/** Open store: its API and the actions of its customers. */
export interface EmulatedStore extends Schedule {
  /** Settings that an operator configures in the service for this store. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Root certificate (DER) of the store's signatures; absent if the store does not sign with certificates. */
  readonly rootCertificate?: Buffer;
  /** Handles a call of the store's API. */
  readonly handleCall: (call: StoreHttpRequest) => HttpResponse;
  /** Returns whether a call by POST only reads, so that it cannot schedule a transition. Default: never. */
  readonly isQuery?: (call: StoreHttpRequest) => boolean;
  /** Needed if several stores share a host. */
  readonly acceptsCall?: (call: StoreHttpRequest) => boolean;
  /** Responses of the store to an outage and to an exceeded rate limit. */
  readonly faultResponses: Readonly<Record<'down' | 'rate-limited', () => HttpResponse>>;
  /** Problems that the developer's account can have, by name. A problem replaces the responses that it returns. */
  readonly accountProblems: Readonly<Record<string, (call: StoreHttpRequest) => HttpResponse | undefined>>;
  /** Settings of the developer's account; absent if the store does not have any. */
  readonly accountSettings?: AccountSettingsHolder;
  /** Makes a purchase and returns its id. Throws `ControlError` if the store would reject the order. */
  readonly placeOrder: (order: PurchaseOrder) => string;
  /** Actions on a purchase. They return the id of the purchase for the response, or throw `ControlError`. */
  readonly actions: Readonly<Record<string, (purchaseId: string, details: ActionBody) => string>>;
  readonly findPurchase: (purchaseId: string) => PurchaseSummary | undefined;
  /** Builds the body that a client posts to `/v1/validate`. `form` selects the kind of evidence. */
  readonly validateBody: (purchaseId: string, form?: string) => Readonly<Record<string, unknown>>;
  /**
   * Builds the HTTP request of a notification. Called when the change happens, so that it contains the state of that
   * time.
   */
  readonly toOutgoingNotification?: (notification: StoreNotification) => OutgoingNotification;
  /** Pays a checkout session and returns the purchase id; undefined if the store does not have the session. */
  readonly payCheckout?: (sessionId: string) => string | undefined;
  /** Refund requests of customers, the oldest first; absent if the store does not request statements about them. */
  readonly refundRequests?: () => readonly RefundRequest[];
  /** Sets whether the API returns orders. Without the permission for financial data, Google Play does not. */
  readonly setOrdersReadable?: (readable: boolean) => void;
  readonly products: () => readonly Readonly<Record<string, unknown>>[];
  readonly purchases: () => readonly PurchaseSummary[];
  /** Returns the state to save, as JSON. */
  readonly toSavedState: () => unknown;
}

/** Purchase in responses of the control API. Stores add members. */
export interface PurchaseSummary extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly productId: string;
  readonly type: string;
  /** State in the store's terms. */
  readonly state: string;
  readonly sandbox: boolean;
  readonly applicationUsername?: string;
}
