import { createHash } from 'node:crypto';
import { addPeriod, dayMs, getDayStart, hourMs, toLocalDay } from '../calendar.ts';
import { gatewayTimeZone } from './gateway-time-zone.ts';
import { formatAmount, type MerchantState } from './merchant-state.ts';
import { approvedResponse, type Dispute, type Payment, type Subscription } from './records.ts';
import type { XmlValue } from './xml.ts';

/** Formats a time as an ISO 8601 timestamp without milliseconds. */
export const toTimestamp = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
export const toDate = (at: number): string => new Date(at).toISOString().slice(0, 10);

type BillingSchedule = Pick<Subscription, 'id' | 'firstBilling' | 'months' | 'cycles'>;

/** Returns the next billing day in the time zone of the gateway: its midnight in UTC. */
const getNextBillingDay = ({ firstBilling, months, cycles }: BillingSchedule): number =>
  addPeriod(firstBilling, `P${months}M`, cycles);

/**
 * Returns the time of the next payment: a pseudorandom hour of the billing day. Braintree does not document the hour,
 * and the day is in the time zone of the gateway.
 *
 * @see https://github.com/braintree/braintree_python/issues/121
 * @see https://github.com/braintree/braintree_ruby/issues/161
 */
export const getNextBillingTime = (schedule: BillingSchedule): number =>
  getDayStart(getNextBillingDay(schedule), gatewayTimeZone) + getBillingHour(schedule) * hourMs;

const getBillingHour = ({ id, cycles }: BillingSchedule): number =>
  (createHash('sha256').update(`${id}/${cycles}`).digest()[0] ?? 0) % 24;

/** Returns the first and the last day of a billing period, which starts after `cycles` periods. */
export const getBillingPeriod = (schedule: BillingSchedule): [number, number] => [
  getNextBillingDay(schedule),
  getNextBillingDay({ ...schedule, cycles: schedule.cycles + 1 }) - dayMs,
];

/** Returns the status of a payment. A card payment settles within a day. */
export const getStatus = ({ status, createdAt }: Payment, now: number): string =>
  status === 'submitted_for_settlement' && now - createdAt >= dayMs ? 'settled' : status;

/** Lists the statuses of a payment, the latest first. */
const listStatuses = (payment: Payment, now: number): NonNullable<Payment['history']> => {
  const { status, createdAt, updatedAt, history = [] } = payment;
  const isSettled = getStatus(payment, now) !== status;
  return [
    ...(isSettled ? [{ status: 'settled', timestamp: createdAt + dayMs }] : []),
    { status, timestamp: history.length > 0 ? updatedAt : createdAt },
    ...history,
  ];
};

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
    taxAmount: payment.taxAmount ?? null,
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
    billing: { countryCodeAlpha2: payment.country ?? null },
    creditCard: { cardType: 'Visa', countryOfIssuance: 'USA', last4: '1111' },
    subscriptionId: payment.subscriptionId ?? null,
    subscription: {
      billingPeriodStartDate: payment.billingPeriod ? toDate(payment.billingPeriod[0]) : null,
      billingPeriodEndDate: payment.billingPeriod ? toDate(payment.billingPeriod[1]) : null,
    },
    disputes: (payment.disputes ?? []).map((dispute) => toDisputeView(payment, dispute)),
    statusHistory: listStatuses(payment, now).map(({ status, timestamp }) => ({
      status,
      timestamp: toTimestamp(timestamp),
    })),
  };
}

/** Converts the dispute of a payment to its API representation. */
export function toDisputeView({ id, amount, currency, ...payment }: Payment, dispute: Dispute): XmlValue {
  const { id: disputeId, kind, openedAt, status, wonAmount = amount } = dispute;
  return {
    id: disputeId,
    amount,
    amountDisputed: amount,
    amountWon: status === 'won' ? wonAmount : '0.00',
    caseNumber: `CB${disputeId.slice(0, 9).toUpperCase()}`,
    createdAt: toTimestamp(openedAt),
    currencyIsoCode: currency,
    kind,
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
  const paidThrough = getNextBillingDay(subscription) - dayMs;
  if (subscription.status !== 'Expired') return paidThrough;
  return Math.min(paidThrough, toLocalDay(subscription.updatedAt, gatewayTimeZone) - dayMs);
}

/**
 * Returns the last paid day as Braintree reports it: the end of the billing period at the last successful transaction.
 * Null before the first period. A period that a discount or the balance covers lacks a transaction. What Braintree
 * reports if it is the first one is not documented: its last day is assumed.
 *
 * @see https://developer.paypal.com/braintree/graphql/reference/types/recurring-billing-subscription-timeline
 */
function getReportedPaidDay({ payments }: MerchantState, subscription: Subscription): string | null {
  if (subscription.cycles === 0) return null;
  const ends = subscription.payments
    .flatMap((id) => payments.get(id) ?? [])
    .flatMap(({ billingPeriod, response }) =>
      billingPeriod && response.code === approvedResponse.code ? billingPeriod[1] : [],
    );
  const [, firstEnd] = getBillingPeriod({ ...subscription, cycles: 0 });
  return toDate(Math.min(getLastPaidDay(subscription), Math.max(firstEnd, ...ends)));
}

/** Returns the last paid day as a date without a zone, or null before the first payment. */
export const getPaidThroughDate = (subscription: Subscription): string | null =>
  subscription.cycles > 0 ? toDate(getLastPaidDay(subscription)) : null;

/** The payment of the current period has failed. */
export const isUnpaid = ({ status, isRetrying }: Subscription): boolean =>
  status === 'Past Due' || (status === 'Active' && isRetrying === true);

/** Transactions that a subscription contains. */
const maxTransactions = 20;

const toDiscounts = ({ freeFrom = 0, freeCycles = 0, cycles, price }: Subscription): XmlValue[] =>
  freeCycles === 0
    ? []
    : [
        {
          id: 'free',
          amount: price,
          quantity: 1,
          neverExpires: false,
          numberOfBillingCycles: freeCycles,
          currentBillingCycle: Math.min(cycles - freeFrom, freeCycles),
        },
      ];

/**
 * Converts a subscription to its API representation.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/response/subscription/node
 */
export function toSubscriptionView(state: MerchantState, subscription: Subscription, now: number): XmlValue {
  const { payments, settings } = state;
  const { firstBilling, isTrial } = subscription;
  // A failed payment starts the next billing period, but does not change the paid-through date.
  // https://developer.paypal.com/braintree/graphql/reference/types/recurring-billing-subscription-timeline
  const cycles = subscription.cycles + (isUnpaid(subscription) ? 1 : 0);
  // The latest first. Earlier ones are found by a search only.
  const ownPayments = subscription.payments
    .flatMap((id) => payments.get(id) ?? [])
    .reverse()
    .slice(0, settings.current().listLength ?? maxTransactions);
  const [periodStart, periodEnd] = getBillingPeriod({ ...subscription, cycles: cycles - 1 });
  const hasStarted = cycles > 0;
  return {
    id: subscription.id,
    planId: subscription.planId,
    status: subscription.status,
    price: subscription.price,
    paymentMethodToken: subscription.token,
    createdAt: toTimestamp(subscription.createdAt),
    updatedAt: toTimestamp(subscription.updatedAt),
    firstBillingDate: toDate(firstBilling),
    nextBillingDate: toDate(getNextBillingDay({ ...subscription, cycles })),
    billingPeriodStartDate: hasStarted ? toDate(periodStart) : null,
    billingPeriodEndDate: hasStarted ? toDate(periodEnd) : null,
    paidThroughDate: getReportedPaidDay(state, subscription),
    trialPeriod: isTrial,
    neverExpires: true,
    currentBillingCycle: cycles,
    numberOfBillingCycles: null,
    discounts: toDiscounts(subscription),
    balance: formatAmount({ priceMicros: subscription.balanceMicros ?? 0 }),
    statusHistory: subscription.history.map(({ status, timestamp, planId }) => ({
      status,
      timestamp: toTimestamp(timestamp),
      ...(planId !== undefined && { planId }),
    })),
    transactions: ownPayments.map((payment) => toPaymentView(payment, now)),
  };
}
