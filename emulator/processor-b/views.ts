import { addPeriod, dayMs } from '../calendar.ts';
import type { MerchantState } from './merchant-state.ts';
import type { Payment, Subscription } from './records.ts';
import type { XmlValue } from './xml.ts';

/** Formats a time as an ISO 8601 timestamp without milliseconds. */
export const toTimestamp = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
const toDate = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Returns the due time of the next payment. */
export const getNextBillingTime = ({ firstBilling, months, cycles }: Subscription): number =>
  addPeriod(firstBilling, `P${months}M`, cycles);

/** Returns the status of a payment. A card payment settles within a day. */
export const getStatus = ({ status, createdAt }: Payment, now: number): string =>
  status === 'submitted_for_settlement' && now - createdAt >= dayMs ? 'settled' : status;

/**
 * Converts a payment to its API representation.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/response/transaction/node
 */
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

/** Converts the dispute of a payment to its API representation. */
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
    receivedDate: toDate(openedAt),
    replyByDate: toDate(openedAt + 20 * dayMs),
    status,
    dateOpened: toDate(openedAt),
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

/** Returns the last paid day. It is in the past for an expired subscription. */
function getLastPaidDay(subscription: Subscription): number {
  const paidThrough = getNextBillingTime(subscription) - dayMs;
  return subscription.status === 'Expired' ? Math.min(paidThrough, subscription.updatedAt - dayMs) : paidThrough;
}

/**
 * Converts a subscription to its API representation.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/response/subscription/node
 */
export function toSubscriptionView({ payments }: MerchantState, subscription: Subscription, now: number): XmlValue {
  const { cycles, months, firstBilling, isTrial } = subscription;
  const ownPayments = subscription.payments.flatMap((id) => payments.get(id) ?? []).reverse();
  const hasPaid = cycles > 0;
  const end = hasPaid ? toDate(getLastPaidDay(subscription)) : null;
  return {
    id: subscription.id,
    planId: subscription.planId,
    status: subscription.status,
    price: subscription.price,
    paymentMethodToken: subscription.token,
    createdAt: toTimestamp(subscription.createdAt),
    updatedAt: toTimestamp(subscription.updatedAt),
    firstBillingDate: toDate(firstBilling),
    nextBillingDate: toDate(getNextBillingTime(subscription)),
    billingPeriodStartDate: hasPaid ? toDate(addPeriod(firstBilling, `P${months}M`, cycles - 1)) : null,
    billingPeriodEndDate: end,
    paidThroughDate: end,
    trialPeriod: isTrial,
    neverExpires: true,
    currentBillingCycle: cycles,
    numberOfBillingCycles: null,
    discounts: [],
    statusHistory: subscription.history.map(({ status, timestamp }) => ({ status, timestamp: toTimestamp(timestamp) })),
    transactions: ownPayments.map((payment) => toPaymentView(payment, now)),
  };
}
