import type { Platform } from '../shared/platform.ts';
import type { ReportProgress } from '../shared/progress.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { Announcement } from './announcement.ts';
import type { Claim, ClaimRequest } from './claims.ts';
import type { EncryptedObservation, PurchaseState } from './merge.ts';
import type { Observation } from './observation.ts';
import type { Purchase } from './purchase.ts';
import type { PurchaseChange, StoredPurchase } from './purchase-change.ts';
import type { Transaction } from './transaction.ts';

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
  /** Whether the customer has a claim without being entitled. */
  readonly hasUnusedClaim: boolean;
}

/** A stored purchase with the sources and times of its state, without its transactions and claims. */
interface PurchaseFacts extends EntitledPurchase {
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
  /** Whether the notification contains other purchases too. */
  readonly isPartOfSeveral: boolean;
}

interface SaveOptions {
  /** Marked as handled in the transaction of the change. */
  readonly part?: NotificationPart | undefined;
  /** A customer of the purchase that exists. Other new customers are created. */
  readonly registeredCustomer?: string | undefined;
}

/** The stored purchases of all apps: the port that `lib/db` implements. */
export interface PurchaseRepository {
  /** Returns the purchase with the as-of time of its state. */
  find(appName: string, purchaseId: string): Promise<(EntitledPurchase & { readonly asOf: EpochMillis }) | undefined>;
  /** Returns the purchases that exist, in the order of the ids. */
  findMany(appName: string, purchaseIds: readonly string[]): Promise<EntitledPurchase[]>;
  /** Lists the ids of the purchases of a store account. Eventually consistent. */
  listIdsByStoreAccount(appName: string, appTransactionId: string, limit: number): Promise<string[]>;
  /** Returns the stored purchases of many observations, by purchase id. Eventually consistent. */
  findObserved(
    appName: string,
    observations: readonly Observation[],
    username: string | undefined,
  ): Promise<ReadonlyMap<string, ComparedPurchase>>;
  findFacts(appName: string, purchaseId: string): Promise<PurchaseFacts | undefined>;
  /** Removes the purchase from the refresh schedule, until its next change. Idempotent. */
  endRefreshSchedule(appName: string, purchaseId: string): Promise<void>;
  findRefreshState(appName: string, purchaseId: string): Promise<PurchaseRefreshState | undefined>;
  /** Lists the transactions of several purchases, latest first. */
  listTransactions(appName: string, purchaseIds: readonly string[]): Promise<Transaction[]>;
  /** Lists the lifecycle notifications, oldest first. */
  listNotifications(appName: string, purchaseId: string): Promise<Announcement[]>;
  listClaims(appName: string, purchaseId: string): Promise<Claim[]>;

  /**
   * Reads the purchase with its claims, shared claims and transactions in one call. A concurrent change can be
   * contained in part, so the result is no input of `saveChange`.
   */
  findStored(appName: string, purchaseId: string): Promise<StoredPurchase | undefined>;
  /**
   * Loads the purchase like `findStored`, as input of `saveChange`. An earlier result of `findStored` replaces the
   * first of two reads.
   */
  load(appName: string, purchaseId: string, earlier?: StoredPurchase): Promise<StoredPurchase | undefined>;
  /** Stores the claim of a validation, so that the next writer of the purchase applies it. */
  shareClaim(appName: string, purchaseId: string, claim: ClaimRequest, now: EpochMillis): Promise<void>;
  isPartHandled(appName: string, purchaseId: string, part: NotificationPart): Promise<boolean>;
  /** Encrypts the refresh token for this purchase only: another purchase cannot decrypt it. */
  encryptRefreshToken(appName: string, observation: Observation): Promise<EncryptedObservation>;
  /**
   * Writes the change and the handled marker of the notification part in one transaction. Throws `Conflict` if another
   * writer has changed the purchase since `load`, or has handled the part.
   */
  saveChange(appName: string, change: PurchaseChange, options?: SaveOptions): Promise<void>;
  /**
   * Writes the check of an unchanged purchase, without a transaction. Keeps `updatedAt`, by which clients read
   * changes. Throws `Conflict` if another writer has changed the purchase since `load`.
   */
  saveCheck(appName: string, change: PurchaseChange): Promise<void>;
  /** Writes only the handled marker. Throws `Conflict` if another writer has handled the part. */
  markPartHandled(appName: string, purchaseId: string, part: NotificationPart, now: EpochMillis): Promise<void>;

  /** Encrypts stale refresh tokens under the current master key. Returns the number of stale tokens. */
  reencryptRefreshTokens(appName: string, reportProgress?: ReportProgress): Promise<number>;
}
