import * as v from 'valibot';
import type { Known } from '../purchases/merge.ts';
import { isExpired, type Millis, type Purchase } from '../purchases/purchase.ts';

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
export interface Written {
  readonly known: Known;
  readonly at: Millis;
}

/**
 * The lifecycle reasons that lead from one state to the next, most important first; none when nothing of a purchase's
 * life changed. Comparing states makes each fact be told once, whichever way it was learned first.
 */
export function lifecycleReasons(before: Written | undefined, after: Written): NotificationReason[] {
  const to = after.known.purchase;
  const expired = isExpired(to, after.at);
  if (!before || before.known.purchase.isPending === true) {
    return to.isPending === true || expired ? [] : ['PURCHASED'];
  }
  const from = before.known.purchase;
  const money = refundReasons(before.known, after.known, to);
  const ended = expired && !isExpired(from, before.at);
  if (money.length > 0) return money;
  if (to.isPaused && !from.isPaused) return ['PAUSED'];
  if (from.productId !== to.productId) return ['PLAN_CHANGED'];
  if (ended) return [to.cancelationReason === 'System.Replaced' ? 'PLAN_CHANGED' : 'EXPIRED'];
  if (expired) return [];
  if (from.transactionId !== to.transactionId || isExpired(from, before.at)) return ['RENEWED'];
  return stateReasons(from, to);
}

function refundReasons(before: Known, after: Known, to: Purchase): NotificationReason[] {
  const refundedBefore = new Set(refunded(before));
  if (!refunded(after).some((id) => !refundedBefore.has(id))) return [];
  return [to.isSharedPurchase ? 'REVOKED' : 'REFUNDED'];
}

const refunded = (known: Known): string[] =>
  known.transactions.flatMap(({ transaction }) =>
    transaction.refundedAt === undefined ? [] : [transaction.transactionId],
  );

function stateReasons(from: Purchase, to: Purchase): NotificationReason[] {
  const reasons: NotificationReason[] = [];
  if (to.isBillingRetryPeriod && !from.isBillingRetryPeriod) reasons.push('ENTERED_GRACE_PERIOD');
  else if (isExtended(from, to)) reasons.push('EXTENDED');
  if (from.renewalIntent === 'Renew' && to.renewalIntent === 'Lapse') reasons.push('WILL_LAPSE');
  if (from.renewalIntent === 'Lapse' && to.renewalIntent === 'Renew') reasons.push('WILL_AUTO_RENEW');
  if (to.priceConsentStatus !== from.priceConsentStatus && to.priceConsentStatus !== undefined) {
    reasons.push(to.priceConsentStatus === 'Agreed' ? 'PRICE_CHANGE_CONFIRMED' : 'PRICE_CHANGE_UPDATED');
  }
  if (to.isAcknowledged && from.isAcknowledged === false) reasons.push('ACKNOWLEDGED');
  return reasons;
}

const isExtended = (from: Purchase, to: Purchase): boolean =>
  !from.isBillingRetryPeriod && (to.expirationDate ?? 0) > (from.expirationDate ?? Number.POSITIVE_INFINITY);
