import * as v from 'valibot';
import { OptionalNumber, OptionalText } from '../api/schemas.ts';
import { dayMs, type EpochMillis, hourMs } from '../foundation/time.ts';
import { isExpired, type Purchase } from '../purchases/purchase.ts';
import { listRefundKeys } from '../purchases/refunds.ts';
import type { Transaction } from '../purchases/transaction.ts';
import { containsAliasForm } from '../purchases/user-aliases.ts';
import type { StoreAction } from '../stores/purchase-action.ts';

/** The store's state before an action, with which its effect is recognized later. */
export const ActionBaseline = v.object({
  transactionId: v.string(),
  expirationDate: OptionalNumber,
  refunds: v.number(),
  isEnded: v.boolean(),
  /** Digest of the request. Earlier releases did not store it. */
  digest: OptionalText,
});
export type ActionBaseline = v.InferOutput<typeof ActionBaseline>;

interface ActionState {
  readonly purchase: Purchase;
  readonly payments: readonly Transaction[];
  readonly userAliases: readonly string[];
}

export const toBaseline = ({ purchase, payments }: Omit<ActionState, 'userAliases'>): ActionBaseline => ({
  transactionId: purchase.transactionId,
  ...(purchase.expirationDate !== undefined && { expirationDate: purchase.expirationDate }),
  refunds: listRefundKeys(payments).length,
  isEnded: purchase.endedAt !== undefined,
});

/** Stores round dates, and count days in their time zones. */
const toleranceMs = 2 * hourMs;

/**
 * Undefined if the store does not report the effect. A subscription that has renewed since the action counts as
 * extended: the action must not be repeated then.
 */
export function hasTakenEffect(
  { action, days = 0, account }: { readonly action: StoreAction; readonly days?: number; readonly account?: string },
  before: ActionBaseline,
  { after: { purchase, payments, userAliases }, now }: { readonly after: ActionState; readonly now: EpochMillis },
): boolean | undefined {
  switch (action) {
    case 'refund':
      // The Microsoft Store reports the refund of a subscription as its end.
      return listRefundKeys(payments).length > before.refunds || (purchase.endedAt !== undefined && !before.isEnded);
    case 'cancel':
      return purchase.renewalIntent !== 'Renew';
    case 'revoke':
      return isExpired(purchase, now);
    case 'extend':
      if (purchase.transactionId !== before.transactionId) return true;
      return (purchase.expirationDate ?? 0) >= (before.expirationDate ?? 0) + days * dayMs - toleranceMs;
    case 'set-account':
      return account !== undefined && containsAliasForm(userAliases, account);
    default:
      return undefined;
  }
}
