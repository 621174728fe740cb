import type { ActiveGrant } from '../customers/access-token-repository.ts';
import type { CustomerSummary } from '../customers/customer-summary.ts';
import type { EventRecord, RawEvent } from '../events/event.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { WebhookDelivery } from '../webhooks/delivery.ts';

/** A customer as stored. */
export interface StoredCustomer {
  readonly createdAt: EpochMillis;
  readonly summary: CustomerSummary;
}

/** An event with its raw view, if it has one. */
export interface StoredEvent {
  readonly event: EventRecord;
  readonly raw?: RawEvent;
}

/** Receives the number of items after each step of a removal, so that they are counted if a later step fails. */
export type OnRemoved = (count: number) => void;

/**
 * All data of one customer, for exporting and erasing it. Every scan yields batches. Reads of an index are eventually
 * consistent: an item of the last seconds can be missing.
 */
export interface CustomerDataRepository {
  find(appName: string, username: string): Promise<StoredCustomer | undefined>;
  /**
   * Scans the ids of the purchases that the customer owns, has claimed or got webhooks about. An id can be repeated.
   */
  scanPurchaseIds(appName: string, username: string): AsyncIterable<string[]>;
  /** Scans the ids of the purchases that the customer owns or has claimed. An id can be repeated. */
  scanOwnPurchaseIds(appName: string, username: string): AsyncIterable<string[]>;
  /** Lists the user aliases of purchases, each once. */
  listAliasesOfPurchases(appName: string, purchaseIds: readonly string[]): Promise<string[]>;
  /** Lists the saved aliases of the customer, normalized. */
  listSavedAliases(appName: string, username: string): Promise<string[]>;
  /** Returns the username that an alias was saved for. */
  findAliasUser(appName: string, alias: string): Promise<string | undefined>;
  /** Lists the ids of all purchases that are filed under an alias. */
  listUnclaimedPurchases(appName: string, alias: string): Promise<string[]>;
  scanDeliveries(appName: string, username: string): AsyncIterable<WebhookDelivery[]>;
  /** Scans the access tokens of checkouts that name the customer. */
  scanAccessTokens(appName: string, username: string): AsyncIterable<ActiveGrant[]>;
  /** Scans the events that name the customer, oldest first. */
  scanEvents(appName: string, username: string): AsyncIterable<StoredEvent[]>;

  /** Deletes an alias that was saved for the customer. Returns whether there was one. */
  deleteAlias(appName: string, alias: string, username: string): Promise<boolean>;
  deleteUnclaimedLink(appName: string, alias: string, purchaseId: string): Promise<void>;
  /** Deletes the claims of the customer to purchases that do not exist: an interrupted write can leave them. */
  deleteOrphanedClaims(appName: string, username: string, onRemoved: OnRemoved): Promise<void>;
  deleteDeliveries(appName: string, username: string, onRemoved: OnRemoved): Promise<void>;
  deleteAccessTokens(appName: string, username: string, onRemoved: OnRemoved): Promise<void>;
  /** Deletes the log of merges of the customer into others, and the aliases that they have moved. */
  deleteMerges(appName: string, username: string, onRemoved: OnRemoved): Promise<void>;
  /** Removes the username, the raw view and the tag of the username from events. Counts the changed events. */
  eraseFromEvents(appName: string, username: string, onRemoved: OnRemoved): Promise<void>;
  /** Deletes the links of the customer, then the customer. */
  deleteCustomer(appName: string, username: string, onRemoved: OnRemoved): Promise<void>;
}
