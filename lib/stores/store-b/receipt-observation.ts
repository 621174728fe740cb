import type { Observation } from '../../purchases/observation.ts';
import type { Purchase } from '../../purchases/purchase.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { dayMs } from '../../shared/time.ts';
import type { ValidationRequest } from '../store.ts';
import type { Receipt } from './evidence.ts';

const toPurchaseId = (native: string): string => withPlatform('store_b', native);

/**
 * What a signed receipt proves by itself: that the purchase was made. It tells neither price nor end, so a subscription is
 * believed only as long as the shortest that its period could be.
 */
export function fromSignedReceipt(receipt: Receipt, request: ValidationRequest, now: EpochMillis): Observation {
  const { purchaseToken, purchaseTime = now, orderId, purchaseState, quantity = 1 } = receipt;
  const isPending = purchaseState !== undefined && purchaseState !== 0;
  const isSubscription = request.type === 'paid subscription' || receipt.autoRenewing !== undefined;
  const purchase: Purchase = {
    purchaseId: toPurchaseId(purchaseToken),
    transactionId: toPurchaseId(orderId ?? purchaseToken),
    productId: toPurchaseId(receipt.productId ?? request.id),
    platform: 'store_b',
    sandbox: orderId === undefined,
    purchaseDate: purchaseTime,
    quantity,
    ...omitUndefined({
      productType: request.type === 'application' ? undefined : request.type,
      expirationDate: isSubscription ? purchaseTime + computeShortestPeriodMs(request) : undefined,
      renewalIntent:
        receipt.autoRenewing === undefined ? undefined : receipt.autoRenewing ? ('Renew' as const) : ('Lapse' as const),
      isAcknowledged: receipt.acknowledged,
      isPending: isPending || undefined,
    }),
  };
  const { purchaseId, transactionId, productId, platform, sandbox } = purchase;
  const { priceMicros, currency } = request;
  const amount =
    priceMicros === undefined || currency === undefined
      ? {}
      : { currency, amountMicros: priceMicros * quantity, isReportedAmount: true };
  const transaction = {
    purchaseId,
    transactionId,
    productId,
    platform,
    sandbox,
    purchaseDate: purchaseTime,
    quantity,
    ...amount,
  };
  return {
    asOf: purchaseTime,
    purchase,
    transactions: isPending ? [] : [transaction],
    userAliases: receipt.obfuscatedAccountId ? [receipt.obfuscatedAccountId] : [],
  };
}

const daysPerUnit = { Day: 1, Week: 7, Month: 28, Year: 365 } as const;

const computeShortestPeriodMs = ({ billingPeriod = 1, billingPeriodUnit = 'Month' }: ValidationRequest): number =>
  billingPeriod * daysPerUnit[billingPeriodUnit] * dayMs;
