import { addPeriod } from '../calendar.ts';
import type { MerchantState } from './merchant-state.ts';
import type { Payment, Subscription } from './records.ts';
import type { XmlValue } from './xml.ts';

/** The length of a day in milliseconds. */
export const dayMs = 86_400_000;

/** A moment as the gateway writes it. */
export const toTimestamp = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
const date = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** When the next payment is due. */
export const getNextBillingTime = ({ firstBilling, months, cycles }: Subscription): number =>
  addPeriod(firstBilling, `P${months}M`, cycles);

/** The payment as the gateway shows it: a card's settles within a day. */
export const getStatus = ({ status, createdAt }: Payment, now: number): string =>
  status === 'submitted_for_settlement' && now - createdAt >= dayMs ? 'settled' : status;

/** A payment in the gateway's words. */
export function toPaymentView(payment: Payment, now: number): XmlValue {
  const { id, type, amount, customerId, refundIds, response } = payment;
  return {
    id,
    status: getStatus(payment, now),
    type,
    currencyIsoCode: payment.currency,
    amount,
    merchantAccountId: 'default',
    orderId: payment.orderId ?? null,
    createdAt: toTimestamp(payment.createdAt),
    updatedAt: toTimestamp(payment.updatedAt),
    customer: { id: customerId ?? null },
    refundIds,
    refundedTransactionId: payment.refundedId ?? null,
    processorResponseCode: response.code,
    processorResponseText: response.text,
    gatewayRejectionReason: payment.rejection ?? null,
    paymentInstrumentType: 'credit_card',
    subscriptionId: payment.subscriptionId ?? null,
    disputes: payment.dispute ? [toDisputeView(payment, 'lost')] : [],
  };
}

/** The dispute of a payment in the gateway's words, in one of its states. */
export function toDisputeView(
  { id, amount, currency, dispute, ...payment }: Payment,
  status: 'open' | 'lost',
): XmlValue {
  const { id: disputeId = '', openedAt = 0 } = dispute ?? {};
  return {
    id: disputeId,
    amount,
    amountDisputed: amount,
    amountWon: '0.00',
    caseNumber: `CB${disputeId.slice(0, 9).toUpperCase()}`,
    createdAt: toTimestamp(openedAt),
    currencyIsoCode: currency,
    kind: 'chargeback',
    merchantAccountId: 'default',
    reason: 'fraud',
    receivedDate: date(openedAt),
    replyByDate: date(openedAt + 20 * dayMs),
    status,
    dateOpened: date(openedAt),
    transaction: {
      id,
      amount,
      createdAt: toTimestamp(payment.createdAt),
      orderId: payment.orderId ?? null,
      paymentInstrumentSubtype: 'Visa',
      purchaseOrderNumber: null,
    },
  };
}

/** The last day that is paid for; the gateway calls expired what has come to its end, so that no day is left of that. */
function lastDay(subscription: Subscription): number {
  const paidThrough = getNextBillingTime(subscription) - dayMs;
  return subscription.status === 'Expired' ? Math.min(paidThrough, subscription.updatedAt - dayMs) : paidThrough;
}

/** A subscription in the gateway's words. */
export function toSubscriptionView({ payments }: MerchantState, subscription: Subscription, now: number): XmlValue {
  const { cycles, months, firstBilling, isTrial } = subscription;
  const own = subscription.payments.flatMap((id) => payments.get(id) ?? []).reverse();
  const hasPaid = cycles > 0;
  const end = hasPaid ? date(lastDay(subscription)) : null;
  return {
    id: subscription.id,
    planId: subscription.planId,
    status: subscription.status,
    price: subscription.price,
    paymentMethodToken: subscription.token,
    createdAt: toTimestamp(subscription.createdAt),
    updatedAt: toTimestamp(subscription.updatedAt),
    firstBillingDate: date(firstBilling),
    nextBillingDate: date(getNextBillingTime(subscription)),
    billingPeriodStartDate: hasPaid ? date(addPeriod(firstBilling, `P${months}M`, cycles - 1)) : null,
    billingPeriodEndDate: end,
    paidThroughDate: end,
    trialPeriod: isTrial,
    neverExpires: true,
    currentBillingCycle: cycles,
    numberOfBillingCycles: null,
    discounts: [],
    statusHistory: subscription.history.map(({ status, timestamp }) => ({ status, timestamp: toTimestamp(timestamp) })),
    transactions: own.map((payment) => toPaymentView(payment, now)),
  };
}
