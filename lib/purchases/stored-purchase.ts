import type { Platform } from '../foundation/platform.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { PurchaseState } from './merge.ts';
import type { Purchase } from './purchase.ts';

/** A purchase with its entitled users, without its transactions and claims. */
export interface EntitledPurchase {
  readonly purchase: Purchase;
  readonly entitledUsers: readonly string[];
}

/** A stored purchase for a comparison with an observation. */
export interface ComparedPurchase {
  /** Contains only the transactions of the observation. */
  readonly state: PurchaseState;
  readonly entitledUsers: readonly string[];
  /** The customer has a claim without being entitled. */
  readonly hasUnusedClaim: boolean;
}

/** A stored purchase with the sources and times of its state, without its transactions and claims. */
export interface PurchaseFacts extends EntitledPurchase {
  readonly asOf: EpochMillis;
  readonly checkedAt: EpochMillis;
  readonly createdAt: EpochMillis;
  readonly updatedAt: EpochMillis;
  readonly lastRefreshAt?: EpochMillis;
  readonly failedRefreshes?: number;
  /** Undefined if no refresh is scheduled. */
  readonly nextRefreshAt?: EpochMillis;
  readonly hasRefreshToken: boolean;
  readonly userAliases: readonly string[];
}

/** Data for a refresh of a purchase. */
export interface PurchaseRefreshState {
  readonly purchase: Purchase;
  /** Decrypted. Undefined if the store cannot be queried for the purchase. */
  readonly refreshToken?: Readonly<Record<string, string>>;
  readonly lastRefreshAt?: EpochMillis;
}

/** One purchase of a store notification, the unit that is processed exactly once. */
export interface NotificationPart {
  readonly platform: Platform;
  /** The store's idempotency key of the notification. */
  readonly key: string;
  /** The notification contains other purchases too. */
  readonly isPartOfSeveral: boolean;
}

export interface SaveOptions {
  /** Marked as handled in the transaction of the change. */
  readonly part?: NotificationPart | undefined;
  /** A customer of the purchase that exists. Other new customers are created. */
  readonly registeredCustomer?: string | undefined;
}
