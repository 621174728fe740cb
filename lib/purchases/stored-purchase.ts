import type { Platform } from '../foundation/platform.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { StoredPeriods } from './active-periods.ts';
import type { FirstOwnerVersion } from './announcement.ts';
import type { Claim, SharedClaim } from './claims.ts';
import type { PurchaseState } from './merge.ts';
import type { Purchase } from './purchase.ts';

/** The purchase state with claims, entitled users, version and refresh bookkeeping. */
export interface StoredPurchase {
  readonly state: PurchaseState;
  readonly claims: readonly Claim[];
  /** Only set before a change, which applies them. */
  readonly sharedClaims?: readonly SharedClaim[];
  readonly entitledUsers: readonly string[];
  /** The only recipients of the announcements of this version. Only set before a change. */
  readonly announcedUsers?: readonly string[];
  readonly createdAt: EpochMillis;
  readonly updatedAt: EpochMillis;
  /** When an import created the purchase, paid and without webhooks. Its earlier history is never announced. */
  readonly importedAt?: EpochMillis;
  /** The active periods that the purchase does not show. For statistics. */
  readonly activePeriods?: StoredPeriods;
  /** The last owner was erased. Statistics continue to count the subscription. */
  readonly hasErasedOwner?: boolean;
  /** Earlier announcements lacked a recipient. Absent if the purchase had an owner from its first version. */
  readonly firstOwnerVersion?: FirstOwnerVersion;
  /** Date of the latest announced renewal if the state shows an earlier one or none. */
  readonly announcedRenewalDate?: EpochMillis;
  /** When an observation or the passing of time was last applied. A later expiration is not announced yet. */
  readonly checkedAt: EpochMillis;
  /** When the last successful refresh was made. */
  readonly lastRefreshAt?: EpochMillis;
  /** Number of failed refreshes since the last successful one. */
  readonly failedRefreshes?: number;
  /** The store has notified the service of a change, and no refresh has found a change without notification. */
  readonly isNotified?: boolean;
  /** Only set before a write. Undefined if no refresh is scheduled. */
  readonly nextRefreshAt?: EpochMillis;
  readonly version: number;
}

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
