import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import type { ValidationRequest } from '../store.ts';
import type { Receipt } from './evidence.ts';
import { toReportedAmount } from './money.ts';

const toPrefixedId = (native: string): string => withPlatform(platformTokens.googlePlay, native);

/**
 * `purchaseState` of a signed receipt. 1 and 2 are canceled and refunded.
 * @see https://developer.android.com/google/play/billing/integrate#pending
 */
const [purchasedState, pendingState] = [0, 4] as const;

/**
 * Converts a signed receipt, which proves only that the purchase was made. It lacks price and expiration.
 */
export function fromSignedReceipt(receipt: Receipt, request: ValidationRequest, now: EpochMillis): Observation {
  const { purchaseToken, purchaseTime = now, orderId, purchaseState = purchasedState, quantity = 1 } = receipt;
  const isPending = purchaseState === pendingState;
  const isEnded = purchaseState !== purchasedState && !isPending;
  const isSubscription = request.type === 'paid subscription' || receipt.autoRenewing !== undefined;
  const purchase: Purchase = {
    purchaseId: toPrefixedId(purchaseToken),
    transactionId: toPrefixedId(orderId ?? purchaseToken),
    productId: toPrefixedId(receipt.productId ?? request.id),
    platform: platformTokens.googlePlay,
    // A test purchase lacks an order, and so does a pending one.
    sandbox: orderId === undefined && !isPending,
    purchaseDate: purchaseTime,
    quantity,
    ...omitUndefined({
      productType: request.type === 'application' ? undefined : request.type,
      renewalIntent: toRenewalIntent(receipt),
      isAcknowledged: receipt.acknowledged,
      isPending: isPending || undefined,
      endedAt: isEnded ? purchaseTime : undefined,
      cancelationReason: isEnded ? ('Unknown' as const) : undefined,
    }),
  };
  const transaction = {
    ...pickSharedFields(purchase),
    purchaseDate: purchaseTime,
    quantity,
    ...toReportedAmount(request, quantity),
  };
  return {
    // The receipts of one purchase have the same time, and a payment ends the pending state for good.
    asOf: purchaseTime - (isPending ? 1 : 0) + (isEnded ? 1 : 0),
    purchase,
    ...(isSubscription && !isPending && { hasUnknownEnd: true }),
    transactions: isPending || isEnded ? [] : [transaction],
    userAliases: receipt.obfuscatedAccountId ? [receipt.obfuscatedAccountId] : [],
  };
}

function toRenewalIntent({ autoRenewing }: Receipt): Purchase['renewalIntent'] {
  if (autoRenewing === undefined) return undefined;
  return autoRenewing ? 'Renew' : 'Lapse';
}
