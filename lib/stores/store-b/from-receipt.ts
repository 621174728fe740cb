import { defined } from '../../defined.ts';
import type { Observation } from '../../purchases/observation.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Millis, Purchase } from '../../purchases/purchase.ts';
import type { ValidationRequest } from '../store.ts';
import type { Receipt } from './receipt.ts';

const id = (native: string): string => prefixed('store_b', native);

/**
 * What a signed receipt proves by itself: that the purchase was made. It tells neither price nor end, so a subscription is
 * believed only as long as the shortest that its period could be.
 */
export function observationFromReceipt(receipt: Receipt, request: ValidationRequest, now: Millis): Observation {
  const { purchaseToken, purchaseTime = now, orderId, purchaseState, quantity = 1 } = receipt;
  const isPending = purchaseState !== undefined && purchaseState !== 0;
  const isSubscription = request.type === 'paid subscription' || receipt.autoRenewing !== undefined;
  const purchase: Purchase = {
    purchaseId: id(purchaseToken),
    transactionId: id(orderId ?? purchaseToken),
    productId: id(receipt.productId ?? request.id),
    platform: 'store_b',
    sandbox: orderId === undefined,
    purchaseDate: purchaseTime,
    quantity,
    ...defined({
      productType: request.type === 'application' ? undefined : request.type,
      expirationDate: isSubscription ? purchaseTime + shortestPeriodMs(request) : undefined,
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
    userTokens: receipt.obfuscatedAccountId ? [receipt.obfuscatedAccountId] : [],
  };
}

const dayMs = 86_400_000;
const daysOf = { Day: 1, Week: 7, Month: 28, Year: 365 } as const;

const shortestPeriodMs = ({ billingPeriod = 1, billingPeriodUnit = 'Month' }: ValidationRequest): Millis =>
  billingPeriod * daysOf[billingPeriodUnit] * dayMs;
