import * as v from 'valibot';
import type { EpochMillis } from '../foundation/time.ts';
import { type PurchaseState, selectTransaction, withMergedIds } from './merge.ts';
import { hasUnspecificReason, isExpired, isSubscription, isUnpaid, type Purchase } from './purchase.ts';
import { listRefundKeys } from './refunds.ts';
import { isTrialWithFee } from './transaction.ts';

/** Reason of a purchase change, named by the specification. `REPEATED` is the wire value of `WEBHOOK_REPEATED`. */
export const NotificationReason = v.picklist([
  'RECEIPT_VALIDATED',
  'RECEIPT_REFRESHED',
  'REPEATED',
  'ACKNOWLEDGED',
  'PURCHASED',
  'REVOKED',
  'EXPIRED',
  'RENEWED',
  'PRICE_CHANGE_CONFIRMED',
  'PRICE_CHANGE_UPDATED',
  'WILL_LAPSE',
  'WILL_AUTO_RENEW',
  'EXTENDED',
  'REFUNDED',
  'PAUSED',
  'ENTERED_GRACE_PERIOD',
  'PLAN_CHANGED',
  'TEST',
  'OTHER',
]);
export type NotificationReason = v.InferOutput<typeof NotificationReason>;

/** A reason that is derived from two purchase states. The others describe a request, a refresh or a webhook. */
export type LifecycleReason = Exclude<
  NotificationReason,
  'RECEIPT_VALIDATED' | 'RECEIPT_REFRESHED' | 'REPEATED' | 'TEST' | 'OTHER'
>;

/** A purchase state and the time at which it was checked. The expiration date has taken effect if it passed by then. */
export interface StateAt {
  readonly state: PurchaseState;
  readonly at: EpochMillis;
  /** Date of the latest announced renewal if the state shows an earlier one or none. */
  readonly announcedRenewalDate?: EpochMillis;
}

/**
 * Returns the date of the latest announced renewal in the next state, in which the store can report a later one for it.
 * It can be later than `lastRenewalDate` there: a plan change whose former period is not known yet resembles a renewal
 * until that period is observed. The renewals before it are announced with it.
 */
function findAnnouncedRenewalDate(
  { state: { purchase, transactions }, announcedRenewalDate = purchase.lastRenewalDate }: Omit<StateAt, 'at'>,
  after: PurchaseState,
): EpochMillis | undefined {
  const announced = transactions.find(({ transaction }) => transaction.purchaseDate === announcedRenewalDate);
  const corrected = announced && selectTransaction(after.transactions, announced.transaction.transactionId);
  return corrected && corrected.purchaseDate > announced.transaction.purchaseDate
    ? corrected.purchaseDate
    : announcedRenewalDate;
}

/**
 * Returns the date up to which renewals are announced after a change with the reasons. `RENEWED` announces those up to
 * the latest payment, even if the store reports that payment as another one than a renewal: an earlier renewal can be
 * observed later.
 */
export function findNextAnnouncedRenewalDate(
  before: Omit<StateAt, 'at'> | undefined,
  after: PurchaseState,
  reasons: readonly LifecycleReason[],
): EpochMillis | undefined {
  const announced = before && findAnnouncedRenewalDate(before, after);
  const latest = reasons.includes('RENEWED')
    ? selectTransaction(after.transactions, after.purchase.transactionId)
    : undefined;
  // `lastRenewalDate` has the date of a renewal.
  if (!latest || latest.isRenewal) return announced;
  const { purchaseDate, periodStartDate = purchaseDate } = latest;
  return Math.max(announced ?? 0, Math.min(purchaseDate, periodStartDate));
}

/**
 * Finds the lifecycle reasons between two purchase states in their order: payments, refunds, the end, changes of the
 * current state. Comparing states reports each fact once, from whichever source it came first, and reports missed
 * facts: a renewal that has expired since yields both reasons. A history that is first seen later has the same reasons
 * for its payments and its end. The reason of the store notification distinguishes facts that result in the same state.
 * Each refund has its own `REFUNDED`.
 */
export function findLifecycleReasons(
  earlier: StateAt | undefined,
  after: StateAt,
  storeReason?: NotificationReason,
): LifecycleReason[] {
  const to = after.state.purchase;
  if (isUnpaid(to)) return [];
  const before = earlier && { ...earlier, state: withMergedIds(earlier.state, after.state) };
  if (!before || isUnpaid(before.state.purchase)) {
    const start = { state: toFirstState(after.state), at: Number.NEGATIVE_INFINITY };
    return ['PURCHASED', ...findPaymentReasons(start, after), ...findEndReasons(start, after, storeReason)];
  }
  const paymentReasons = findPaymentReasons(before, after);
  const stateReasons = isExpired(to, after.at)
    ? []
    : findStateReasons(before.state, after.state, { transitionReasons: paymentReasons, storeReason });
  return [...paymentReasons, ...findEndReasons(before, after, storeReason), ...stateReasons];
}

/**
 * Returns the state after the first known payment. If the latest payment is not known, it can be the first one: an item
 * of Google Play that continues one of a replaced token names its order.
 */
function toFirstState(state: PurchaseState): PurchaseState {
  const { endedAt, lastRenewalDate, cancelationReason, isPaused, renewalProductId, ...purchase } = state.purchase;
  const first = state.transactions[0]?.transaction;
  if (!first) return { ...state, purchase };
  const isLatestKnown = selectTransaction(state.transactions, purchase.transactionId) !== undefined;
  const { productId, expirationDate } = first;
  const { transactionId } = isLatestKnown ? first : purchase;
  return {
    ...state,
    purchase: { ...purchase, transactionId, productId, ...(expirationDate !== undefined && { expirationDate }) },
    transactions: [],
  };
}

/** Finds the reasons of refunds and of an end. */
function findEndReasons(before: StateAt, after: StateAt, storeReason?: NotificationReason): LifecycleReason[] {
  const { purchase: to } = after.state;
  const endReasons = findAccessEndReasons(before, after);
  const newRefunds = findNewRefunds(before.state, after.state);
  if (newRefunds.length === 0 || isRefundOfRevocation(before, newRefunds, storeReason)) return endReasons;
  const refundReasons = findRefundReasons(before, after, { newRefunds, storeReason });
  // The refund reason covers an end by refund. An end together with the refund of an earlier period is reported as
  // well.
  const isEndedByRefund = to.endedAt !== undefined || newRefunds.includes(to.transactionId);
  const isCovered = (reason: LifecycleReason) => isEndedByRefund && (reason === 'EXPIRED' || reason === 'REVOKED');
  return [...refundReasons, ...endReasons.filter((reason) => !isCovered(reason))];
}

/** The revocation is already announced. The store reports both separately if its payments cannot be read. */
const isRefundOfRevocation = (
  { state: { purchase }, at }: StateAt & { readonly state: PurchaseState },
  newRefunds: readonly string[],
  storeReason: NotificationReason | undefined,
): boolean =>
  storeReason === 'REVOKED' &&
  (purchase.cancelationReason === 'System' || purchase.cancelationReason === 'Developer') &&
  isExpired(purchase, at) &&
  newRefunds.every((key) => key === purchase.transactionId);

/** Finds the reasons of new refunds. If nothing was paid, as in a trial or by a family member, only an end counts. */
function findRefundReasons(
  before: StateAt,
  after: StateAt,
  { newRefunds, storeReason }: { newRefunds: readonly string[]; storeReason: NotificationReason | undefined },
): LifecycleReason[] {
  const paidRefunds = newRefunds.filter((key) => !isFree(after.state, key));
  if (paidRefunds.length === 0) return isNewEnd(before, after) ? ['REVOKED'] : [];
  return chooseRefundReason(before, after, storeReason) === 'REVOKED'
    ? ['REVOKED']
    : paidRefunds.map(() => 'REFUNDED' as const);
}

function isFree(state: PurchaseState, refundKey: string): boolean {
  const transaction = selectTransaction(state.transactions, refundKey);
  const isFreeTrial = transaction?.isTrialPeriod === true && !isTrialWithFee(transaction);
  return transaction?.amountMicros === 0 || isFreeTrial || state.purchase.isSharedPurchase === true;
}

const isNewEnd = (before: StateAt, after: StateAt): boolean =>
  hasJustExpired(before, after) || after.state.purchase.endedAt !== before.state.purchase.endedAt;

const hasJustExpired = (before: StateAt, after: StateAt): boolean =>
  !isExpired(before.state.purchase, before.at) && isExpired(after.state.purchase, after.at);

/** Finds the reasons of a new plan and of a new payment. */
function findPaymentReasons(before: StateAt, after: StateAt): LifecycleReason[] {
  const [from, to] = [before.state.purchase, after.state.purchase];
  const [wasExpired, isNowExpired] = [isExpired(from, before.at), isExpired(to, after.at)];
  const hasNewPayment = isNewPayment(before.state, after.state);
  const isReturned = wasExpired && !isNowExpired;
  const announcedRenewalDate = findAnnouncedRenewalDate(before, after.state) ?? from.purchaseDate ?? Infinity;
  const hasLaterRenewal = (to.lastRenewalDate ?? 0) > announcedRenewalDate;
  // A payment after the end is a resubscription, also with another product of the same subscription group. A replaced
  // subscription continues with the payment that replaced it.
  const isResubscription = wasExpired && hasNewPayment && from.cancelationReason !== 'System.Replaced';
  // Only a store-managed consumable keeps its purchase when it is bought again.
  if (hasNewPayment && !isSubscription(to)) return ['PURCHASED'];
  // Access that returns to the product, with a plan that was chosen before the end.
  const isResumed = isReturned && from.productId === to.productId;
  if (!isPlanChange(from, to) || isResubscription || isResumed) {
    return hasNewPayment || isReturned || hasLaterRenewal ? ['RENEWED'] : [];
  }
  return hasLaterRenewal ? ['PLAN_CHANGED', 'RENEWED'] : ['PLAN_CHANGED'];
}

/** Finds the reason of an end of access other than by a refund. */
function findAccessEndReasons(before: StateAt, after: StateAt): LifecycleReason[] {
  const [from, to] = [before.state.purchase, after.state.purchase];
  const [wasExpired, isNowExpired] = [isExpired(from, before.at), isExpired(to, after.at)];
  if (to.isPaused) return from.isPaused ? [] : ['PAUSED'];
  // The purchase that replaces this one announces the change.
  if (!isNowExpired || to.cancelationReason === 'System.Replaced') return [];
  if (wasExpired && !isNewPayment(before.state, after.state)) return [];
  return [isEndedEarly(from, after.state) ? 'REVOKED' : 'EXPIRED'];
}

/**
 * The store ended the purchase before the known expiration date without a reason of the customer, or a purchase without
 * an end.
 */
function isEndedEarly(
  { expirationDate: knownEnd = Infinity }: Purchase,
  { purchase: to, transactions }: PurchaseState,
) {
  if (to.endedAt === undefined) return false;
  const paidEnd = selectTransaction(transactions, to.transactionId)?.expirationDate ?? knownEnd;
  const expirationDate = Math.max(knownEnd, paidEnd);
  return (
    to.endedAt < expirationDate &&
    (hasUnspecificReason(to) ||
      to.cancelationReason === 'Developer' ||
      (expirationDate === Infinity && !isSubscription(to)))
  );
}

/**
 * The latest transaction pays for a later period. False if the store reports an earlier transaction again because the
 * later one was refunded, or if that refund is reversed.
 */
function isNewPayment(before: PurchaseState, after: PurchaseState): boolean {
  const [fromId, toId] = [before.purchase.transactionId, after.purchase.transactionId];
  if (fromId === toId || listRefundedIds(before).includes(toId)) return false;
  // An invoice after the end, such as for a plan change, did not return access.
  if (before.purchase.endedAt !== undefined && before.purchase.endedAt === after.purchase.endedAt) return false;
  const [from, to] = [selectTransaction(after.transactions, fromId), selectTransaction(after.transactions, toId)];
  if (!from || !to) return true;
  const [fromEnd, toEnd] = [from, to].map(({ expirationDate, purchaseDate }) => expirationDate ?? purchaseDate) as [
    EpochMillis,
    EpochMillis,
  ];
  // An additional payment for the current period, such as that of added seats, does not renew.
  if (toEnd === fromEnd && to.isRenewal === false && to.productId === from.productId) return false;
  return toEnd === fromEnd ? to.purchaseDate >= from.purchaseDate : toEnd > fromEnd;
}

/**
 * The product changed other than by the announced renewal product, or another renewal product was chosen. A chosen
 * product that is withdrawn changes nothing.
 */
const isPlanChange = (from: Purchase, to: Purchase): boolean =>
  from.productId === to.productId
    ? ![undefined, to.productId, from.renewalProductId].includes(to.renewalProductId)
    : from.renewalProductId !== to.productId || from.transactionId === to.transactionId;

function chooseRefundReason(
  before: StateAt,
  after: StateAt,
  storeReason: NotificationReason | undefined,
): LifecycleReason {
  if (storeReason === 'REFUNDED') return 'REFUNDED';
  // The store revoked the purchase without a request of the customer, for example after a lost dispute.
  const isRevocation = after.state.purchase.cancelationReason === 'System';
  return isRevocation && hasJustExpired(before, after) ? 'REVOKED' : 'REFUNDED';
}

/** Returns the keys of the new refunds, full and partial. The key of a full refund is the id of its transaction. */
function findNewRefunds(before: PurchaseState, after: PurchaseState): string[] {
  const [keysBefore, keysAfter] = [before, after].map(({ transactions }) =>
    listRefundKeys(transactions.map(({ transaction }) => transaction)),
  );
  return (keysAfter ?? []).filter((key) => !keysBefore?.includes(key));
}

const listRefundedIds = (state: PurchaseState): string[] =>
  state.transactions.flatMap(({ transaction }) =>
    transaction.refundedAt === undefined ? [] : [transaction.transactionId],
  );

/** Finds the reasons of an active purchase. A transition implies longer access and the renewal intent `Renew`. */
function findStateReasons(
  before: PurchaseState,
  after: PurchaseState,
  {
    transitionReasons,
    storeReason,
  }: {
    readonly transitionReasons: readonly LifecycleReason[];
    readonly storeReason: NotificationReason | undefined;
  },
): LifecycleReason[] {
  const [from, to] = [before.purchase, after.purchase];
  const hasTransition = transitionReasons.length > 0;
  const reasons: LifecycleReason[] = [];
  if (to.isBillingRetryPeriod && (!from.isBillingRetryPeriod || transitionReasons.includes('RENEWED'))) {
    reasons.push('ENTERED_GRACE_PERIOD');
  } else if (
    !hasTransition &&
    isExtended(from, to) &&
    (storeReason === 'EXTENDED' || isPaidPeriodExtended(before, after))
  ) {
    reasons.push('EXTENDED');
  }
  if (from.renewalIntent === 'Renew' && to.renewalIntent === 'Lapse') reasons.push('WILL_LAPSE');
  if (!hasTransition && from.renewalIntent === 'Lapse' && to.renewalIntent === 'Renew') reasons.push('WILL_AUTO_RENEW');
  if (to.priceConsentStatus !== from.priceConsentStatus && to.priceConsentStatus !== undefined) {
    reasons.push(to.priceConsentStatus === 'Agreed' ? 'PRICE_CHANGE_CONFIRMED' : 'PRICE_CHANGE_UPDATED');
  } else if (storeReason === 'PRICE_CHANGE_UPDATED' && to.priceConsentStatus === undefined) {
    // The state does not show a price change without a consent status.
    reasons.push(storeReason);
  }
  if (to.isAcknowledged && from.isAcknowledged === false) reasons.push('ACKNOWLEDGED');
  return reasons;
}

const isExtended = (from: Purchase, to: Purchase): boolean =>
  !from.isBillingRetryPeriod && (to.expirationDate ?? 0) > (from.expirationDate ?? Number.POSITIVE_INFINITY);

/** If a store processes a renewal late, only the access ends later. */
function isPaidPeriodExtended(before: PurchaseState, after: PurchaseState): boolean {
  const { transactionId } = after.purchase;
  const [endBefore, endAfter] = [before, after].map(
    ({ transactions }) => selectTransaction(transactions, transactionId)?.expirationDate,
  );
  return endBefore === undefined || endAfter === undefined || endAfter > endBefore;
}
