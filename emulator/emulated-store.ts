import type { HttpResponse, StoreHttpRequest } from './http-messages.ts';
import type { NotificationDelivery } from './notification-delivery.ts';
import type { OutgoingNotification } from './outgoing-notification.ts';
import type { ActionBody, PurchaseOrder } from './purchase-order.ts';

/** A store of the emulator: its line in the registry. */
export interface StoreDefinition {
  /** The neutral token, such as `store_a`. */
  readonly platform: string;
  /** Other names under which the control API knows it. */
  readonly aliases: readonly string[];
  /** The host names of the real store; the emulator answers `/<host>/<path>` for each. */
  readonly hosts: readonly string[];
  readonly open: (context: EmulatedStoreContext) => Promise<EmulatedStore>;
}

/** What the emulator gives to a store. */
export interface EmulatedStoreContext {
  readonly now: () => number;
  /** What `save` gave when the emulator was last stopped; undefined at the first start. */
  readonly savedState: unknown;
  /** To be called with every server notification that the real store would send at this point. */
  readonly emitNotification: (message: StoreNotification) => void;
  readonly deliveries: NotificationDeliveries;
}

/** What a store sees of how its notifications fare. */
export interface NotificationDeliveries {
  /** Where they are posted to; undefined when nobody wants them. */
  readonly url: () => string | undefined;
  /** Those that wait or were sent lately, every copy of them, the oldest first. */
  readonly list: () => readonly NotificationDelivery[];
}

/** A server notification of a store. */
export interface StoreNotification {
  readonly purchaseId: string;
  /** When the change happened, on the emulated clock. */
  readonly at: number;
  /** The payment that it is about, when that is not the latest of the purchase. */
  readonly transactionId?: string;
  /** The notification in the store's own words, for example its type and subtype. */
  readonly native: Readonly<Record<string, unknown>>;
}

/** A store that is open: the calls that it answers and the things that its customers can do. */
export interface EmulatedStore {
  /** What an operator would configure in the service for this store. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The root, in DER, that vouches for what the store signs; absent when it signs nothing with certificates. */
  readonly rootCertificate?: Buffer;
  /** Answers a call of the store's own API. */
  readonly handleCall: (call: StoreHttpRequest) => HttpResponse;
  /** Whether a call is for this store and not for another one on the same hosts; absent where there is no other. */
  readonly acceptsCall?: (call: StoreHttpRequest) => boolean;
  /** How the store words an outage and a rate limit. */
  readonly faultResponses: Readonly<Record<'down' | 'rate-limited', () => HttpResponse>>;
  /** Makes a purchase and gives its id; throws a refusal when the store would not sell. */
  readonly placeOrder: (order: PurchaseOrder) => string;
  /** What can happen to a purchase; each gives the id of the purchase to show, or throws a refusal. */
  readonly actions: Readonly<Record<string, (purchaseId: string, details: ActionBody) => string>>;
  /** The purchase with this id, if it is this store's. */
  readonly findPurchase: (purchaseId: string) => PurchaseSummary | undefined;
  /** The body with which a client would have the purchase validated now; `form` chooses among the store's receipts. */
  readonly validateBody: (purchaseId: string, form?: string) => Readonly<Record<string, unknown>>;
  /** How the store posts a notification: built when it happens, so that it shows the state of that moment. */
  readonly toOutgoingNotification?: (message: StoreNotification) => OutgoingNotification;
  /** Pays for a checkout session as its customer would; gives the purchase, or undefined for a session of another store. */
  readonly payCheckout?: (sessionId: string) => string | undefined;
  readonly products: () => readonly Readonly<Record<string, unknown>>[];
  readonly purchases: () => readonly PurchaseSummary[];
  /** Plays what happens by itself up to `until`, in the order of its time, and tells whether that was anything. */
  readonly advanceTo: (until: number) => boolean;
  /** All that must survive a restart, as JSON. */
  readonly toSavedState: () => unknown;
}

/** A purchase as the control API shows it; stores add members of their own. */
export interface PurchaseSummary extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly productId: string;
  readonly type: string;
  /** In the store's own words. */
  readonly state: string;
  readonly sandbox: boolean;
  readonly applicationUsername?: string;
}
