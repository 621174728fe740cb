import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { pickSharedFields } from '../pick-shared-fields.ts';
import type { ValidationRequest } from '../store.ts';
import type { Receipt } from './evidence.ts';
import { toReportedAmount } from './money.ts';

const toPrefixedId = (native: string): string => withPlatform('store_b', native);

/** `purchaseState` of a signed receipt. */
const purchasedState = 0;

/**
 * Converts a signed receipt, which proves only that the purchase was made. It lacks price and expiration.
 */
export function fromSignedReceipt(receipt: Receipt, request: ValidationRequest, now: EpochMillis): Observation {
  const { purchaseToken, purchaseTime = now, orderId, purchaseState = purchasedState, quantity = 1 } = receipt;
  const isPending = purchaseState !== purchasedState;
  const isSubscription = request.type === 'paid subscription' || receipt.autoRenewing !== undefined;
  const purchase: Purchase = {
    purchaseId: toPrefixedId(purchaseToken),
    transactionId: toPrefixedId(orderId ?? purchaseToken),
    productId: toPrefixedId(receipt.productId ?? request.id),
    platform: 'store_b',
    sandbox: orderId === undefined,
    purchaseDate: purchaseTime,
    quantity,
    ...omitUndefined({
      productType: request.type === 'application' ? undefined : request.type,
      renewalIntent: toRenewalIntent(receipt),
      isAcknowledged: receipt.acknowledged,
      isPending: isPending || undefined,
    }),
  };
  const transaction = {
    ...pickSharedFields(purchase),
    purchaseDate: purchaseTime,
    quantity,
    ...toReportedAmount(request, quantity),
  };
  return {
    asOf: purchaseTime,
    purchase,
    ...(isSubscription && { hasUnknownEnd: true }),
    transactions: isPending ? [] : [transaction],
    userAliases: receipt.obfuscatedAccountId ? [receipt.obfuscatedAccountId] : [],
  };
}

function toRenewalIntent({ autoRenewing }: Receipt): Purchase['renewalIntent'] {
  if (autoRenewing === undefined) return undefined;
  return autoRenewing ? 'Renew' : 'Lapse';
}
