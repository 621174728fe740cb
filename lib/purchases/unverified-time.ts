import { defaultUnverifiedHours } from '../apps/app.ts';
import { dayMs, hourMs } from '../foundation/time.ts';
import { type PurchaseState, selectTransaction } from './merge.ts';
import { chooseLaterNotice, isUnpaid, type RenewalNotice } from './purchase.ts';

/** Stores charge a renewal up to a day before the period. */
const maxEarlyRenewalMs = dayMs;

/**
 * Sets the end of access for the case that the store cannot be queried after the expiration date. Without it, a
 * subscriber who renews during an outage of the store would lose access. A verified notification of the renewal proves
 * one more period, and one of the end removes this time. If only the client can make the store available again, the
 * subscription has one more period, too: the client does it when it is opened. Removes it as soon as the store has
 * reported a state after the expiration date. Depends only on the state, so the order of the observations does not
 * change it.
 */
export function setUnverifiedEnd(state: PurchaseState, unverifiedHours = defaultUnverifiedHours): PurchaseState {
  const { unverifiedUntil: _previous, renewalNotice, ...reported } = state.purchase;
  const { expirationDate } = reported;
  const notice = renewalNotice && renewalNotice.date > state.asOf ? renewalNotice : undefined;
  const purchase = { ...reported, ...(notice && { renewalNotice: notice }) };
  if (expirationDate === undefined || state.asOf >= expirationDate || notice?.isEnd || !canRenew(state))
    return { ...state, purchase };
  const isRenewed = notice !== undefined && notice.date >= expirationDate - maxEarlyRenewalMs;
  const lastKnownDate = isRenewed ? Math.max(expirationDate, notice.date) : expirationDate;
  const paidUntil = lastKnownDate + (isRenewed || purchase.awaitsCredentials ? getPeriodMs(state) : 0);
  return { ...state, purchase: { ...purchase, unverifiedUntil: paidUntil + unverifiedHours * hourMs } };
}

/** Adds what a verified notification proves to the state. */
export const addRenewalNotice = (
  state: PurchaseState,
  notice: RenewalNotice,
  unverifiedHours: number | undefined,
): PurchaseState => {
  const renewalNotice = chooseLaterNotice(notice, state.purchase.renewalNotice) ?? notice;
  return setUnverifiedEnd({ ...state, purchase: { ...state.purchase, renewalNotice } }, unverifiedHours);
};

/** Marks the state of a purchase for which only the client can make the store available again. */
export const markAwaitingCredentials = (state: PurchaseState, unverifiedHours: number | undefined): PurchaseState =>
  setUnverifiedEnd({ ...state, purchase: { ...state.purchase, awaitsCredentials: true } }, unverifiedHours);

/** Returns the length of the last paid period. */
function getPeriodMs({ purchase, transactions }: PurchaseState): number {
  const latest = selectTransaction(transactions, purchase.transactionId);
  if (latest?.expirationDate === undefined) return 0;
  const { expirationDate, purchaseDate, periodStartDate = purchaseDate } = latest;
  return Math.max(0, expirationDate - periodStartDate);
}

/**
 * The store can be queried, and the subscription renews without a client. After a failed payment, the store has
 * reported until when access lasts.
 */
const canRenew = ({ purchase, refreshToken }: PurchaseState): boolean =>
  refreshToken !== undefined &&
  purchase.productType !== 'non renewing subscription' &&
  (purchase.renewalIntent === 'Renew' || purchase.isCommitted === true) &&
  purchase.isBillingRetryPeriod !== true &&
  purchase.isPaused !== true &&
  purchase.endedAt === undefined &&
  !isUnpaid(purchase);
