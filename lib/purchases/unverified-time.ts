import { hourMs } from '../shared/time.ts';
import type { PurchaseState } from './merge.ts';
import { isUnpaid } from './purchase.ts';

/** Hours of access after the expiration date of a renewing subscription while its store cannot be queried. */
export const defaultUnverifiedHours = 24;
/** Maximum that an app can set. */
export const maxUnverifiedHours = 168;

/**
 * Sets the end of access for the case that the store cannot be queried after the expiration date. Without it, a
 * subscriber who renews during an outage of the store would lose access. Removes it as soon as the store has reported a
 * state after the expiration date. Depends only on the state, so the order of the observations does not change it.
 */
export function setUnverifiedEnd(state: PurchaseState, unverifiedHours = defaultUnverifiedHours): PurchaseState {
  const { unverifiedUntil: _previous, ...purchase } = state.purchase;
  const { expirationDate } = purchase;
  if (expirationDate === undefined || state.asOf >= expirationDate || !canRenew(state)) return { ...state, purchase };
  return { ...state, purchase: { ...purchase, unverifiedUntil: expirationDate + unverifiedHours * hourMs } };
}

/**
 * Whether the subscription can renew without a client, and the store can be queried for it. After a failed payment, the
 * store has reported until when access lasts.
 */
const canRenew = ({ purchase, refreshToken }: PurchaseState): boolean =>
  refreshToken !== undefined &&
  purchase.productType !== 'non renewing subscription' &&
  (purchase.renewalIntent === 'Renew' || purchase.isCommitted === true) &&
  purchase.isBillingRetryPeriod !== true &&
  purchase.isPaused !== true &&
  purchase.endedAt === undefined &&
  !isUnpaid(purchase);
