import * as v from 'valibot';
import type { EpochMillis } from '../shared/time.ts';
import type { PurchaseState } from './merge.ts';
import { isExpired, type Purchase } from './purchase.ts';

/** Why a purchase changed, in the words of the specification (`REPEATED` is the wire value of `WEBHOOK_REPEATED`). */
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

/** A state and the moment it was written; expiry by the clock counts as seen when it had passed by then. */
export interface StateAt {
  readonly state: PurchaseState;
  readonly at: EpochMillis;
}

/**
 * The lifecycle reasons that lead from one state to the next, most important first; none when nothing of a purchase's
 * life changed. Comparing states makes each fact be told once, whichever way it was learned first, and tells what was
 * missed in between as well: a renewal that has run out since is both. What the store's message says (`told`) tells where
 * states look alike.
 */
export function findLifecycleReasons(
  before: StateAt | undefined,
  after: StateAt,
  storeReason?: NotificationReason,
): NotificationReason[] {
  const to = after.state.purchase;
  if (!before || before.state.purchase.isPending === true) {
    return to.isPending === true || isExpired(to, after.at) ? [] : ['PURCHASED'];
  }
  const transitionReasons = findTransitionReasons(before, after);
  const life = isExpired(to, after.at)
    ? transitionReasons
    : [
        ...transitionReasons,
        ...findStateReasons(before.state, after.state, { turns: transitionReasons, told: storeReason }),
      ];
  const newRefunds = findNewRefunds(before.state, after.state);
  if (newRefunds.length === 0) return life;
  // The end that comes with the money is not told for itself; one that has come beside the refund of an earlier period is.
  const ends = to.endedAt !== undefined || newRefunds.includes(to.transactionId);
  const rest = ends ? life.filter((reason) => reason !== 'EXPIRED' && reason !== 'REVOKED') : life;
  return [chooseRefundReason(before, after), ...rest];
}

/** A new plan or payment, and what has become of the access. */
function findTransitionReasons(before: StateAt, after: StateAt): NotificationReason[] {
  const [from, to] = [before.state.purchase, after.state.purchase];
  const [wasExpired, expired] = [isExpired(from, before.at), isExpired(to, after.at)];
  const paid = isNewPayment(before.state, after.state);
  const reasons: NotificationReason[] = [];
  if (isPlanChange(from, to)) reasons.push('PLAN_CHANGED');
  else if (paid || (wasExpired && !expired)) reasons.push('RENEWED');
  if (to.isPaused) return from.isPaused ? reasons : [...reasons, 'PAUSED'];
  // The purchase that took its place tells of the change.
  if (to.cancelationReason === 'System.Replaced' && expired) return reasons;
  if (expired && (!wasExpired || paid)) reasons.push(isEndedEarly(from, to) ? 'REVOKED' : 'EXPIRED');
  return reasons;
}

/** Ended by the store before the date that was known, and nobody says why. */
const isEndedEarly = ({ expirationDate = Infinity }: Purchase, { endedAt = Infinity, cancelationReason }: Purchase) =>
  endedAt < expirationDate && cancelationReason === 'Unknown';

/** A payment for a later period than the one before; not an earlier one that is shown again since the later was refunded, nor back. */
function isNewPayment(before: PurchaseState, after: PurchaseState): boolean {
  const [from, to] = [before.purchase.transactionId, after.purchase.transactionId];
  if (from === to || listRefundedIds(before).includes(to)) return false;
  const datesOf = (id: string): readonly [EpochMillis, EpochMillis] | undefined => {
    const found = after.transactions.find(({ transaction }) => transaction.transactionId === id)?.transaction;
    return found && [found.expirationDate ?? found.purchaseDate, found.purchaseDate];
  };
  const [earlier, later] = [datesOf(from), datesOf(to)];
  if (!earlier || !later) return true;
  return later[0] === earlier[0] ? later[1] >= earlier[1] : later[0] > earlier[0];
}

/** Another product now, unless it is the one that was chosen for this renewal, or another choice for the next one. */
const isPlanChange = (from: Purchase, to: Purchase): boolean =>
  from.productId === to.productId
    ? (from.renewalProductId ?? from.productId) !== (to.renewalProductId ?? to.productId)
    : from.renewalProductId !== to.productId || from.transactionId === to.transactionId;

function chooseRefundReason(before: StateAt, after: StateAt): NotificationReason {
  const to = after.state.purchase;
  const endedWithIt = !isExpired(before.state.purchase, before.at) && isExpired(to, after.at);
  // Taken away without the owner's doing: a family that ended, a dispute that was lost.
  const isTakenAway = to.cancelationReason === 'System' && (endedWithIt || to.endedAt !== undefined);
  return to.isSharedPurchase || isTakenAway ? 'REVOKED' : 'REFUNDED';
}

function findNewRefunds(before: PurchaseState, after: PurchaseState): string[] {
  const refundedBefore = new Set(listRefundedIds(before));
  return listRefundedIds(after).filter((id) => !refundedBefore.has(id));
}

const listRefundedIds = (state: PurchaseState): string[] =>
  state.transactions.flatMap(({ transaction }) =>
    transaction.refundedAt === undefined ? [] : [transaction.transactionId],
  );

/** What has become of a running purchase; a turn says by itself that there is access for longer, and renewal. */
function findStateReasons(
  before: PurchaseState,
  after: PurchaseState,
  {
    turns: transitionReasons,
    told,
  }: { readonly turns: readonly NotificationReason[]; readonly told: NotificationReason | undefined },
): NotificationReason[] {
  const [from, to] = [before.purchase, after.purchase];
  const hasTurned = transitionReasons.length > 0;
  const reasons: NotificationReason[] = [];
  if (to.isBillingRetryPeriod && (!from.isBillingRetryPeriod || transitionReasons.includes('RENEWED'))) {
    reasons.push('ENTERED_GRACE_PERIOD');
  } else if (!hasTurned && isExtended(from, to) && (told === 'EXTENDED' || isPaidPeriodExtended(before, after))) {
    reasons.push('EXTENDED');
  }
  if (from.renewalIntent === 'Renew' && to.renewalIntent === 'Lapse') reasons.push('WILL_LAPSE');
  if (!hasTurned && from.renewalIntent === 'Lapse' && to.renewalIntent === 'Renew') reasons.push('WILL_AUTO_RENEW');
  if (to.priceConsentStatus !== from.priceConsentStatus && to.priceConsentStatus !== undefined) {
    reasons.push(to.priceConsentStatus === 'Agreed' ? 'PRICE_CHANGE_CONFIRMED' : 'PRICE_CHANGE_UPDATED');
  }
  if (to.isAcknowledged && from.isAcknowledged === false) reasons.push('ACKNOWLEDGED');
  return reasons;
}

const isExtended = (from: Purchase, to: Purchase): boolean =>
  !from.isBillingRetryPeriod && (to.expirationDate ?? 0) > (from.expirationDate ?? Number.POSITIVE_INFINITY);

/** The period of the payment itself ends later: while a store is late with a renewal, or its bill, only the access does. */
function isPaidPeriodExtended(before: PurchaseState, after: PurchaseState): boolean {
  const [was, is] = [before, after].map((state) => getPeriodEnd(state, after.purchase.transactionId));
  return was === undefined || is === undefined || is > was;
}

const getPeriodEnd = ({ transactions }: PurchaseState, id: string): EpochMillis | undefined =>
  transactions.find(({ transaction }) => transaction.transactionId === id)?.transaction.expirationDate;
