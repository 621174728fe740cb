import { type ActionName, actionNames } from '../api/schemas.ts';
import type { ApiKeyLevel, App } from '../apps/app.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { isUnpaid, type Purchase } from '../purchases/purchase.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { listActionVerdicts } from '../stores/list-action-verdicts.ts';
import type { ActionVerdict, StoreAction } from '../stores/purchase-action.ts';
import { selectPayment } from './select-payment.ts';

/** A purchase with its stored payments, latest first. */
export interface PurchaseWithPayments {
  readonly purchase: Purchase;
  readonly payments: readonly Transaction[];
  readonly hasRefreshToken: boolean;
}

/** The key that requests an action, with its app. */
export interface ActionCaller {
  readonly app: Pick<App, 'supportActions'>;
  readonly level: ApiKeyLevel;
}

/** A decision about an action, with the payment that a refund concerns. */
export interface ActionWithVerdict {
  readonly action: ActionName;
  readonly verdict: ActionVerdict;
  readonly payment?: Transaction;
}

/** Stores use either name. */
export const toStoreAction = (action: ActionName): StoreAction => (action === 'defer' ? 'extend' : action);

/**
 * Lists for each action whether it is possible for a purchase now, and why not, from the stored state alone. Throws
 * `ResourceNotFound` for a transaction of a different purchase.
 */
export function listActions(
  { purchase, payments, hasRefreshToken }: PurchaseWithPayments,
  {
    caller,
    now,
    transactionId,
  }: {
    readonly caller: ActionCaller;
    readonly now: EpochMillis;
    readonly transactionId?: string | undefined;
  },
): ActionWithVerdict[] {
  const payment = selectPayment(payments, transactionId);
  const verdicts = listActionVerdicts({ purchase, now, ...omitUndefined({ payment }) });
  const decide = (action: ActionName): ActionVerdict => {
    if (!hasRefreshToken) return { why: 'The store cannot be queried for the purchase.' };
    if (isUnpaid(purchase)) return { why: 'The purchase is not paid.' };
    if (action === 'refund' && !payment && 'effect' in verdicts.refund) return { why: 'No payment is left to refund.' };
    if (caller.level === 'support' && !isAllowedToSupport(caller.app, action))
      return { why: 'The app does not allow the action to support keys.' };
    return verdicts[toStoreAction(action)];
  };
  return actionNames.map((action) => ({ action, verdict: decide(action), ...(payment && { payment }) }));
}

export const isAllowedToSupport = ({ supportActions = [] }: Pick<App, 'supportActions'>, action: ActionName): boolean =>
  supportActions.some((allowed) => toStoreAction(allowed) === toStoreAction(action));
