import type { CommissionRates, Strategy } from '../apps/app.ts';
import type { Catalogue } from '../apps/catalogue.ts';
import type { BillingPeriod } from '../foundation/billing-period.ts';
import { toCanonicalJson } from '../foundation/canonical-json.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { type EpochMillis, hourMs, minuteMs } from '../foundation/time.ts';
import { computeStoredPeriods } from './active-periods.ts';
import { addPaymentFigures } from './add-payment-figures.ts';
import { isVisibleChange, selectAnnouncedReasons, type UpdateTrigger } from './announced-reasons.ts';
import type { FirstOwnerVersion } from './announcement.ts';
import {
  addClaim,
  type Claim,
  type ClaimRequest,
  limitUsernames,
  type MovedClaim,
  resolveEntitledUsers,
  type SharedClaim,
  selectSharedClaims,
} from './claims.ts';
import {
  findLifecycleReasons,
  findNextAnnouncedRenewalDate,
  type LifecycleReason,
  type NotificationReason,
} from './lifecycle-reasons.ts';
import { type EncryptedObservation, merge, type PurchaseState, withMergedIds } from './merge.ts';
import { compareTransactions, type ObservedTransaction, type TransactionChanges } from './merge-transactions.ts';
import type { Payer } from './payment-figures.ts';
import { completeState, keepPaidPeriods } from './period-end.ts';
import {
  getAccessEnd,
  hasOtherPlan,
  isActive,
  isExpired,
  isUnpaid,
  isUnverified,
  type Purchase,
  type RenewalNotice,
} from './purchase.ts';
import { computeNextRefresh } from './refresh-schedule.ts';
import { isResubscription } from './resubscription.ts';
import type { StoredPurchase } from './stored-purchase.ts';
import type { Transaction } from './transaction.ts';
import { addRenewalNotice, markAwaitingCredentials, setUnverifiedEnd } from './unverified-time.ts';

/** An observation, a claim or the passing of time. */
export interface PurchaseUpdate {
  readonly trigger: UpdateTrigger;
  readonly observation?: EncryptedObservation;
  /** The purchase that this one replaces. A new purchase starts with its claims. */
  readonly replacedPurchase?: StoredPurchase;
  /** A purchase of the same buyer. A new purchase that replaces none starts with its claims. */
  readonly relatedPurchase?: StoredPurchase;
  /** Other purchases of the subscription group that the customer owns. Only set for a new purchase. */
  readonly groupPurchases?: readonly Purchase[];
  readonly claim?: ClaimRequest;
  /** The merge of two customers that makes the claim. Its log then has the claim. */
  readonly mergeId?: string;
  readonly catalogue?: Catalogue;
  /** Rates of commission of the app. They take precedence over the default rates. */
  readonly commissionRates?: CommissionRates;
  /** The stored state with converted payments, whose figures are computed again. Replaces an observation. */
  readonly restatedState?: PurchaseState;
  /** The customer who pays. Only needed until the payments have it. */
  readonly payer?: Payer;
  /** Billing period that a client states for the product. Fills a gap: see `completeState`. */
  readonly reportedPeriod?: BillingPeriod;
  /** Setting of the app. Default: `defaultUnverifiedHours`. */
  readonly unverifiedHours?: number | undefined;
  /** The customer that the store's observation identifies. Claims the purchase if it is unclaimed. */
  readonly storeUser?: string;
  /**
   * Reason of the store notification. Distinguishes a revocation from an expiration or a refund with the same state.
   */
  readonly storeReason?: NotificationReason;
  /** The store rejected the refresh because the client must send new credentials first. */
  readonly awaitsCredentials?: boolean;
  /** What a verified store notification proves without an observation. */
  readonly renewalNotice?: RenewalNotice;
  /** The event that records the update. */
  readonly eventId?: string;
  readonly strategy: Strategy;
  readonly now: EpochMillis;
}

/** The difference between the stored purchase before and after an update, ready to be written. */
export interface PurchaseChange extends TransactionChanges {
  readonly before: StoredPurchase | undefined;
  readonly after: StoredPurchase;
  /** Stored as lifecycle notifications of the purchase. */
  readonly lifecycleReasons: readonly LifecycleReason[];
  /** Announced to the app's server. */
  readonly announcedReasons: readonly NotificationReason[];
  /** The only recipients of the announcements. Absent if all users of the purchase are recipients. */
  readonly announcedUsers?: readonly string[];
  /** The event that records the update. */
  readonly eventId?: string;
  /** Claims that are new or changed. */
  readonly newClaims: readonly Claim[];
  /** The new claims that a new purchase has from the purchase that it replaces. */
  readonly copiedClaims: readonly Claim[];
  /** Shared claims that the change applies. */
  readonly appliedClaims: readonly SharedClaim[];
  /** Claims that newer ones have evicted. */
  readonly evictedClaims: readonly Claim[];
  readonly gainedUsers: readonly string[];
  readonly lostUsers: readonly string[];
  /** The claim that a merge of two customers moves. Written to the log of the merge with the change. */
  readonly movedClaim?: MovedClaim;
}

/**
 * A newer as-of time of an unchanged state is written at most once a minute: apps often validate a receipt repeatedly.
 */
const asOfResolutionMs = minuteMs;

/**
 * Maximum number of users that are stored as the only recipients of a change of ownership. More of them change only if
 * the strategy changes, and then the webhooks are sent to all users.
 */
const maxAnnouncedUsers = 50;

/** The reasons that a revocation can have in a state, most specific first. A notification replaces only one of them. */
const revocationReasons = ['REVOKED', 'REFUNDED', 'EXPIRED'] as const;

/** Computes the change that an update causes. Returns undefined if there is nothing to write. */
export function computePurchaseChange(
  before: StoredPurchase | undefined,
  update: PurchaseUpdate,
): PurchaseChange | undefined {
  const state = computeState(before, update);
  if (!state) return undefined;
  const { claims, ...claimChanges } = computeClaims(before, state, update);
  const transactionChanges = compareTransactions(before?.state.transactions ?? [], state.transactions);
  const { changedTransactions } = transactionChanges;
  const { after, lifecycleReasons } = computeAfter(before, { state, claims, changedTransactions, update });
  const change: PurchaseChange = {
    before,
    lifecycleReasons,
    ...selectAnnouncements(before, { after, lifecycleReasons, update }),
    ...(update.eventId !== undefined && { eventId: update.eventId }),
    ...claimChanges,
    ...transactionChanges,
    ...findMovedClaim(before, claims, update),
  };
  return mustBeWritten(change, update) ? change : undefined;
}

/** Applies the update to the state, with the figures of its payments. Returns undefined without a state. */
function computeState(before: StoredPurchase | undefined, update: PurchaseUpdate): PurchaseState | undefined {
  const observed = update.observation
    ? applyObservation(before?.state, update.observation, update)
    : (update.restatedState ?? (before && applyUnobserved(before.state, update)));
  return (
    observed &&
    addPaymentFigures(observed, {
      before: before?.state,
      replaced: update.replacedPurchase?.state,
      payer: update.payer,
      rates: update.commissionRates ?? [],
      isRestated: update.restatedState !== undefined,
    })
  );
}

function computeClaims(before: StoredPurchase | undefined, state: PurchaseState, update: PurchaseUpdate) {
  const appliedClaims =
    update.trigger === 'validation' ? selectSharedClaims(before?.sharedClaims ?? [], update.now) : [];
  const inheritedClaims = (update.replacedPurchase ?? update.relatedPurchase)?.claims ?? [];
  const claims = applyClaims(before?.claims ?? inheritedClaims, {
    state,
    isInUse: before !== undefined && isActive(before.state.purchase, update.now),
    sharedClaims: appliedClaims,
    update,
  });
  return {
    claims,
    newClaims: claims.filter((claim) => !before?.claims.includes(claim)),
    appliedClaims,
    copiedClaims: before ? [] : claims.filter((claim) => inheritedClaims.includes(claim)),
    evictedClaims: (before?.claims ?? []).filter(
      ({ username }) => !claims.some((claim) => claim.username === username),
    ),
  };
}

interface AppliedUpdate {
  readonly state: PurchaseState;
  readonly claims: readonly Claim[];
  readonly changedTransactions: readonly ObservedTransaction[];
  readonly update: PurchaseUpdate;
}

/** Builds the purchase after the update, and finds the lifecycle reasons of the difference. */
function computeAfter(
  before: StoredPurchase | undefined,
  { state, claims, changedTransactions, update }: AppliedUpdate,
): Pick<PurchaseChange, 'after' | 'lifecycleReasons'> {
  const comparable = before && { ...before, state: withMergedIds(before.state, state) };
  const after = buildStoredPurchase(comparable, { state, claims }, update);
  const isHistory = update.trigger === 'import' && isImportedHistory(before, changedTransactions);
  const lifecycleReasons = isHistory ? [] : findChangeReasons(before, after, update);
  const announcedRenewalDate = findNextAnnouncedRenewalDate(comparable, state, lifecycleReasons) ?? 0;
  const isAheadOfState = announcedRenewalDate > (state.purchase.lastRenewalDate ?? 0);
  return { after: isAheadOfState ? { ...after, announcedRenewalDate } : after, lifecycleReasons };
}

type ComputedAfter = Pick<PurchaseChange, 'after' | 'lifecycleReasons'> & { readonly update: PurchaseUpdate };

/** Selects what is announced to the app's server, and to whom. */
function selectAnnouncements(
  before: StoredPurchase | undefined,
  { after, lifecycleReasons, update: { trigger, now } }: ComputedAfter,
) {
  const { state, entitledUsers } = after;
  const gainedUsers = entitledUsers.filter((username) => !before?.entitledUsers.includes(username));
  const lostUsers = (before?.entitledUsers ?? []).filter((username) => !entitledUsers.includes(username));
  const isFirstEntitlement =
    before?.claims.length === 0 &&
    before.importedAt === undefined &&
    gainedUsers.length > 0 &&
    isActive(state.purchase, now);
  const ownershipChanges = gainedUsers.length + lostUsers.length;
  const announcedReasons = selectAnnouncedReasons(
    { before: before?.state, after: state, lifecycleReasons, ownershipChanges, isFirstEntitlement, now },
    trigger,
  );
  const isOwnershipOnly =
    before && lifecycleReasons.length === 0 && !isVisibleChange(before.state.purchase, state.purchase, now);
  // The announcement of a lifecycle reason is stored with the purchase.
  const isFirstOwner = announcedReasons.includes('PURCHASED') && !lifecycleReasons.includes('PURCHASED');
  return {
    after: isFirstOwner ? { ...after, firstOwnerVersion: pickVersion(after) } : after,
    announcedReasons,
    ...(isOwnershipOnly && ownershipChanges <= maxAnnouncedUsers && { announcedUsers: [...gainedUsers, ...lostUsers] }),
    gainedUsers,
    lostUsers,
  };
}

const pickVersion = ({ version, updatedAt }: StoredPurchase): FirstOwnerVersion => ({ version, updatedAt });

/** Returns the claim that a merge makes on a purchase that the merged customer has not claimed. */
function findMovedClaim(
  before: StoredPurchase | undefined,
  claims: readonly Claim[],
  { claim, mergeId, now }: PurchaseUpdate,
): Pick<PurchaseChange, 'movedClaim'> {
  const result = claims.find(({ username }) => username === claim?.username);
  const hasClaim = before?.claims.some(({ username }) => username === claim?.username);
  if (mergeId === undefined || !result || hasClaim) return {};
  return { movedClaim: { mergeId, movedAt: now, result } };
}

/** Applies what an update without an observation proves. */
function applyUnobserved(
  state: PurchaseState,
  { renewalNotice, awaitsCredentials, unverifiedHours }: PurchaseUpdate,
): PurchaseState {
  if (renewalNotice) return addRenewalNotice(state, renewalNotice, unverifiedHours);
  return awaitsCredentials ? markAwaitingCredentials(state, unverifiedHours) : state;
}

function applyObservation(
  before: PurchaseState | undefined,
  observation: EncryptedObservation,
  { catalogue, reportedPeriod, unverifiedHours }: ObservationRules,
): PurchaseState {
  const merged = keepPaidPeriods(merge(before, observation), { before, observation });
  return setUnverifiedEnd(completeState(merged, { before, observation, catalogue, reportedPeriod }), unverifiedHours);
}

type ObservationRules = Pick<PurchaseUpdate, 'catalogue' | 'reportedPeriod' | 'unverifiedHours'>;

function buildStoredPurchase(
  before: StoredPurchase | undefined,
  { state, claims }: Pick<StoredPurchase, 'state' | 'claims'>,
  { observation, trigger, strategy, now }: PurchaseUpdate,
): StoredPurchase {
  const isUnchanged = before && claims === before.claims && !observation;
  const lastRefreshAt = trigger === 'refresh' && observation ? now : before?.lastRefreshAt;
  const failedRefreshes = observation ? 0 : (before?.failedRefreshes ?? 0) + (trigger === 'refresh' ? 1 : 0);
  const hasRefreshToken = state.refreshToken !== undefined;
  const isMissed = trigger === 'refresh' && before !== undefined && hasMissedNotification(before, state, now);
  const expiresByDate = trigger === 'refresh' && (isExpired(state.purchase, now) || isUnverified(state.purchase, now));
  // Not earlier than before: a concurrent update can have a later time, at which an expiration was announced.
  const checkedAt = Math.max(observation || expiresByDate ? now : 0, before?.checkedAt ?? now);
  const isNotified = trigger === 'notification' || (before?.isNotified === true && !isMissed);
  const isNewImport = !before && trigger === 'import' && !isUnpaid(state.purchase);
  const importedAt = isNewImport ? now : before?.importedAt;
  const nextRefreshAt = computeNextRefresh(state.purchase, {
    // The time of the last check, because a later expiration is not announced yet and needs a refresh.
    now: trigger === 'refresh' ? now : checkedAt,
    failedRefreshes,
    hasRefreshToken,
    isNotified,
    scheduledAt: before?.nextRefreshAt,
  });
  const createdAt = before?.createdAt ?? now;
  const activePeriods = computeStoredPeriods(before, { state, createdAt, checkedAt });
  return {
    state,
    claims,
    entitledUsers: isUnchanged ? limitUsernames(before.entitledUsers) : resolveEntitledUsers(claims, strategy),
    createdAt,
    // Increases with every change, even if the writer's clock is behind: clients read changes by this date.
    updatedAt: Math.max(now, (before?.updatedAt ?? 0) + 1),
    checkedAt,
    ...omitUndefined({
      activePeriods,
      hasErasedOwner: before?.hasErasedOwner,
      firstOwnerVersion: before?.firstOwnerVersion,
      importedAt,
      lastRefreshAt,
      nextRefreshAt,
      failedRefreshes: failedRefreshes || undefined,
      isNotified: isNotified || undefined,
    }),
    version: (before?.version ?? 0) + 1,
  };
}

/** Time in which a store notification of a renewal arrives. A refresh just after the renewal can be earlier. */
const maxNotificationDelayMs = hourMs;

/** A refresh has found a change of which the store has not notified the service. */
function hasMissedNotification({ state: before }: StoredPurchase, after: PurchaseState, now: EpochMillis): boolean {
  const sinceRenewalMs = now - (before.purchase.expirationDate ?? now);
  const isRecentRenewal = sinceRenewalMs >= 0 && sinceRenewalMs < maxNotificationDelayMs;
  return !isRecentRenewal && isVisibleChange(before.purchase, after.purchase, now);
}

/** The import found only what occurred before the purchase was first imported, for example in an older receipt. */
const isImportedHistory = (
  before: StoredPurchase | undefined,
  changedTransactions: PurchaseState['transactions'],
): boolean => {
  if (before?.importedAt === undefined) return !before;
  const { importedAt } = before;
  const isEarlier = ({ purchaseDate, refundedAt = 0 }: Transaction) => Math.max(purchaseDate, refundedAt) <= importedAt;
  return changedTransactions.length > 0 && changedTransactions.every(({ transaction }) => isEarlier(transaction));
};

/** Returns the lifecycle reasons of a change, with those that only a replaced purchase or the store's reason shows. */
function findChangeReasons(
  before: StoredPurchase | undefined,
  after: StoredPurchase,
  { replacedPurchase, groupPurchases, storeReason }: PurchaseUpdate,
): LifecycleReason[] {
  const from = before && { ...before, at: before.checkedAt };
  const reasons = findLifecycleReasons(from, { state: after.state, at: after.checkedAt }, storeReason);
  const isPlanChange =
    replacedPurchase !== undefined && hasOtherPlan(replacedPurchase.state.purchase, after.state.purchase);
  // A dispute about an earlier payment returns money, and the purchase continues.
  const isEnded = isExpired(after.state.purchase, after.checkedAt);
  const isRevocation = storeReason === 'REVOKED' && isEnded && !isEndAnnounced(before, after.state);
  const revocationReason = isRevocation && revocationReasons.find((reason) => reasons.includes(reason));
  const revocationIndex = revocationReason ? reasons.indexOf(revocationReason) : -1;
  return reasons.flatMap((reason, index): LifecycleReason[] => {
    if (index === revocationIndex) return ['REVOKED'];
    if (reason !== 'PURCHASED') return [reason];
    const earlier = { replaced: replacedPurchase?.state.purchase, ofGroup: groupPurchases };
    if (isResubscription(after.state.purchase, earlier)) return reasons.includes('RENEWED') ? [] : ['RENEWED'];
    if (isPlanChange) return ['PLAN_CHANGED'];
    if (!replacedPurchase) return [reason];
    // The same plan continues: a prepaid plan that is topped up, or an item that stays when another one is added.
    return after.state.transactions.length > 0 && !reasons.includes('RENEWED') ? ['RENEWED'] : [];
  });
}

/**
 * Access had ended by the time at which the store revoked it. A later notification of the same revocation can only add
 * its refund: the observation between them can lack the end date. A dispute is lost after the end.
 */
const isEndAnnounced = (before: StoredPurchase | undefined, { purchase: { endedAt } }: PurchaseState): boolean => {
  if (!before || before.state.purchase.endedAt !== undefined) return before !== undefined;
  const { purchase } = before.state;
  return isExpired(purchase, before.checkedAt) && endedAt !== undefined && endedAt <= getAccessEnd(purchase);
};

/**
 * Applies the claim of the checkout user, the shared claims, and the claim of the update or of the store user. Returns
 * the same array if they do not change the entitled users.
 */
function applyClaims(
  claims: readonly Claim[],
  { state: { userAliases }, isInUse, sharedClaims, update }: ClaimContext,
): readonly Claim[] {
  const { observation, claim, storeUser, strategy, now } = update;
  const checkoutClaim = claimForUnclaimed(claims, observation?.checkoutUsername, 'validation');
  const claimed = [checkoutClaim, ...sharedClaims.map(toClaimRequest), claim].filter(
    (request) => request !== undefined,
  );
  const storeClaim = claimed.length === 0 ? claimForUnclaimed(claims, storeUser, 'alias') : undefined;
  return [...claimed, ...(storeClaim ? [storeClaim] : [])].reduce(
    (applied, request) => addClaim(applied, request, { userAliases, strategy, isInUse, now }),
    claims,
  );
}

interface ClaimContext {
  /** The purchase gave access before the update. */
  readonly isInUse: boolean;
  readonly state: PurchaseState;
  readonly sharedClaims: readonly SharedClaim[];
  readonly update: PurchaseUpdate;
}

/** Returns the claim of a user that the store identifies. The claims of API clients take precedence over it. */
const claimForUnclaimed = (
  claims: readonly Claim[],
  username: string | undefined,
  source: Claim['source'],
): ClaimRequest | undefined => (username !== undefined && claims.length === 0 ? { username, source } : undefined);

const toClaimRequest = ({ username, isNamedByStore }: SharedClaim): ClaimRequest => ({
  username,
  source: 'validation',
  isNamedByStore,
});

/** A later as-of time alone is not a change. */
export const hasStateChange = (
  before: PurchaseState,
  observation: EncryptedObservation,
  catalogue: Catalogue | undefined,
): boolean => {
  const after = applyObservation(before, observation, { ...(catalogue && { catalogue }) });
  return isDifferentState(before, after, compareTransactions(before.transactions, after.transactions));
};

const isDifferentState = (
  before: PurchaseState,
  after: PurchaseState,
  { changedTransactions, removedTransactions }: TransactionChanges,
): boolean =>
  changedTransactions.length + removedTransactions.length > 0 ||
  toCanonicalJson(before.purchase) !== toCanonicalJson(after.purchase) ||
  before.userAliases.length !== after.userAliases.length ||
  (before.refreshToken === undefined && after.refreshToken !== undefined);

/** A refresh is always written, because it schedules the next one. */
const mustBeWritten = (change: PurchaseChange, { trigger }: PurchaseUpdate): boolean =>
  changesPurchase(change) ||
  trigger === 'refresh' ||
  change.before?.state.isInferred !== change.after.state.isInferred ||
  change.after.state.asOf - (change.before?.state.asOf ?? 0) > asOfResolutionMs;

/** The change has nothing but a later check of an unchanged purchase, and moves no claim. */
export const isCheckOnly = (change: PurchaseChange): boolean =>
  !changesPurchase(change) && change.appliedClaims.length + change.evictedClaims.length === 0;

/** The change has more than the bookkeeping of a refresh and a later as-of time. */
export const changesPurchase = (change: PurchaseChange): boolean => {
  const { before, after } = change;
  return (
    !before ||
    change.newClaims.length > 0 ||
    change.announcedReasons.length + change.lifecycleReasons.length > 0 ||
    change.gainedUsers.length + change.lostUsers.length > 0 ||
    isDifferentState(before.state, after.state, change) ||
    change.changedFigures.length > 0
  );
};
