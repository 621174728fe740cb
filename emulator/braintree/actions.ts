import { toLocalDay } from '../calendar.ts';
import { controlError } from '../control-error.ts';
import type { ActionBody } from '../purchase-order.ts';
import { billSubscription, savePayment, withPaymentStatus, withStatus } from './billing.ts';
import {
  emitCheckWebhook,
  emitDisputeWebhook,
  emitSubscriptionWebhook,
  emitTransactionWebhook,
} from './emit-webhooks.ts';
import { gatewayTimeZone } from './gateway-time-zone.ts';
import { formatAmount, generateId, type ResponseContext, toMicros } from './merchant-state.ts';
import { changePlan } from './plan-change.ts';
import { type Dispute, isDisputed, type Payment, type Subscription } from './records.ts';
import { computeRemainingMicros, reversePayment } from './transactions.ts';
import { getBillingPeriod, getNextBillingTime, isUnpaid } from './views.ts';

/** Cancels a subscription. Access remains until the end of the paid period. */
export function cancelSubscription(context: ResponseContext, subscription: Subscription): void {
  context.state.subscriptions.set(subscription.id, withStatus(subscription, 'Canceled', context.now()));
  emitSubscriptionWebhook(context, 'subscription_canceled', { id: subscription.id, at: context.now() });
}

/** Control API actions on a subscription. */
export const subscriptionActions: Readonly<
  Record<string, (context: ResponseContext, subscription: Subscription, details: ActionBody) => void>
> = {
  renew: (context, subscription, { currency, priceMicros, free }) => {
    if (subscription.status !== 'Active')
      throw controlError(422, `The subscription is ${subscription.status} and cannot renew.`);
    // An update of the subscription has set another price, or a merchant account with another currency.
    const price = {
      ...(currency !== undefined && { currency }),
      ...(priceMicros !== undefined && { price: formatAmount({ priceMicros }) }),
    };
    const discount = free ? { freeFrom: subscription.cycles, freeCycles: 1 } : {};
    const billed = { ...subscription, ...price, ...discount };
    billSubscription(context, billed, Math.max(context.now(), getNextBillingTime(billed)));
  },
  'change-plan': changePlan,
  cancel: (context, subscription) => {
    if (subscription.status === 'Pending') throw controlError(422, 'The subscription is Pending: abandon cancels it.');
    if (subscription.status === 'Canceled' || subscription.status === 'Expired') {
      throw controlError(422, `The subscription is already ${subscription.status}.`);
    }
    cancelSubscription(context, subscription);
  },
  'fail-payment': (context, subscription, { retrying = false }) => {
    if (subscription.status !== 'Active') throw controlError(422, `The subscription is ${subscription.status}.`);
    failPayment(context, subscription, retrying);
  },
  recover: (context, subscription) => {
    if (!isUnpaid(subscription)) throw controlError(422, 'The subscription is not Past Due.');
    billSubscription(context, subscription);
  },
  expire: (context, subscription) => {
    if (subscription.status === 'Pending') throw controlError(422, 'The subscription is Pending.');
    if (subscription.status === 'Expired') throw controlError(422, 'The subscription is already Expired.');
    context.state.subscriptions.set(subscription.id, withStatus(subscription, 'Expired', context.now()));
    emitSubscriptionWebhook(context, 'subscription_expired', { id: subscription.id, at: context.now() });
  },
  pay: (context, subscription) => {
    requirePending(subscription);
    const firstBilling = Math.min(subscription.firstBilling, toLocalDay(context.now(), gatewayTimeZone));
    billSubscription(context, { ...subscription, firstBilling });
  },
  abandon: (context, subscription) => {
    requirePending(subscription);
    cancelSubscription(context, subscription);
  },
  refund: (context, subscription, details) => refundPayment(context, findLatestPaid(context, subscription), details),
  dispute: (context, subscription) => void openDispute(context, findLatestPaid(context, subscription)),
  'reverse-refund': (context, subscription) => failRefund(context, findLatestPaid(context, subscription)),
  'win-dispute': (context, subscription, details) =>
    resolveDispute(context, findLatestPaid(context, subscription), { status: 'won', ...details }),
  revoke: (context, subscription) => resolveDispute(context, findLatestPaid(context, subscription), { status: 'lost' }),
  'test-notification': (context, { id }) => emitCheckWebhook(context, id),
};

/** Control API actions on a one-time payment. */
export const paymentActions: Readonly<
  Record<string, (context: ResponseContext, payment: Payment, details: ActionBody) => void>
> = {
  pay: (context, payment) => settlePending(context, payment, 'settled'),
  abandon: (context, payment) => settlePending(context, payment, 'settlement_declined'),
  refund: refundPayment,
  dispute: (context, payment) => void openDispute(context, payment),
  'reverse-refund': failRefund,
  'win-dispute': (context, payment, details) => resolveDispute(context, payment, { status: 'won', ...details }),
  revoke: (context, payment) => resolveDispute(context, payment, { status: 'lost' }),
  'test-notification': (context, { id }) => emitCheckWebhook(context, id),
};

function requirePending({ status }: Subscription): void {
  if (status !== 'Pending') throw controlError(422, `The subscription is ${status} and not Pending.`);
}

/**
 * Settles or declines a pending payment.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/webhooks/transaction/node
 */
function settlePending(context: ResponseContext, payment: Payment, status: 'settled' | 'settlement_declined'): void {
  if (payment.status !== 'settlement_pending') {
    throw controlError(422, `The payment is ${payment.status} and not settlement_pending.`);
  }
  const settled = withPaymentStatus(payment, status, context.now());
  context.state.payments.set(payment.id, settled);
  emitTransactionWebhook(context, `transaction_${status}`, settled);
}

/**
 * Fails the payment of the next period. The subscription stays active for up to two days of automatic retries.
 *
 * @see https://developer.paypal.com/braintree/articles/guides/recurring-billing/recurring-advanced-settings
 */
function failPayment(context: ResponseContext, subscription: Subscription, isRetrying: boolean): void {
  const { id, price: amount, currency, customerId, payments } = subscription;
  const at = context.now();
  const response = { code: '2001', text: 'Insufficient Funds' };
  const billingPeriod = getBillingPeriod(subscription);
  const input = {
    amount,
    currency,
    customerId,
    subscriptionId: id,
    billingPeriod,
    status: 'processor_declined',
    response,
  };
  const { id: failedId } = savePayment(context, input);
  const failed = { ...withStatus(subscription, isRetrying ? 'Active' : 'Past Due', at), isRetrying };
  context.state.subscriptions.set(id, { ...failed, payments: [...payments, failedId] });
  emitSubscriptionWebhook(context, 'subscription_charged_unsuccessfully', { id, at });
  if (!isRetrying) emitSubscriptionWebhook(context, 'subscription_went_past_due', { id, at });
}

const findLatestPaid = ({ state }: ResponseContext, { payments }: Subscription): Payment | undefined =>
  payments.flatMap((id) => state.payments.get(id) ?? []).findLast(({ status }) => status !== 'processor_declined');

/**
 * Refunds or voids a payment. Braintree does not send a webhook for it. Only a settled payment can be refunded in part,
 * so it is settled first, like in the sandbox for tests.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/testing/node#settlement-status
 */
function refundPayment(
  context: ResponseContext,
  payment: Payment | undefined,
  { amountMicros }: Pick<ActionBody, 'amountMicros'>,
): void {
  const paid = requirePaid(payment);
  const remainingMicros = computeRemainingMicros(context.state, paid);
  if (remainingMicros <= 0 || (amountMicros ?? 0) > remainingMicros) {
    throw controlError(422, 'amountMicros: the payment does not have so much left to refund.');
  }
  if (amountMicros === undefined) reversePayment(context, paid);
  else reversePayment(context, { ...paid, status: 'settled' }, amountMicros);
}

/**
 * Opens a dispute. Braintree debits the amount until the dispute is resolved. It is possible after a full refund. After
 * a chargeback that was won, the bank starts a pre-arbitration.
 *
 * @see https://developer.paypal.com/braintree/graphql/reference/types/dispute-type
 * @see https://developer.paypal.com/braintree/graphql/reference/types/dispute
 * @see https://articles.braintreepayments.com/risk-and-security/chargebacks-retrievals/disputing-chargebacks
 */
function openDispute(context: ResponseContext, payment: Payment | undefined): Payment {
  const paid = requirePaid(payment);
  const remainingMicros = computeRemainingMicros(context.state, paid);
  if (remainingMicros > 0 && remainingMicros < toMicros(paid.amount))
    throw controlError(422, 'The payment was refunded in part.');
  const disputes = paid.disputes ?? [];
  const kind = disputes.at(-1)?.kind === 'chargeback' ? 'pre_arbitration' : 'chargeback';
  const dispute: Dispute = { id: generateId(16), kind, openedAt: context.now(), status: 'open' };
  return saveDisputes(context, paid, [...disputes, dispute]);
}

/**
 * Fails the latest refund of a payment after it was submitted.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/statuses
 */
function failRefund(context: ResponseContext, payment: Payment | undefined): void {
  const { state, now } = context;
  const refunds = (payment?.refundIds ?? []).flatMap((id) => state.payments.get(id) ?? []);
  const refund = refunds.findLast(({ status }) => status !== 'failed');
  if (!payment || !refund) throw controlError(422, 'The payment does not have a refund that can fail.');
  const failed = withPaymentStatus(refund, 'failed', now());
  state.payments.set(failed.id, failed);
  emitTransactionWebhook(context, 'refund_failed', failed, payment.subscriptionId ?? payment.id);
}

interface Resolution extends Pick<ActionBody, 'amountMicros'> {
  readonly status: 'won' | 'lost';
}

/** Resolves the open dispute of a payment, also in part. A lost one is opened first if it is missing. */
function resolveDispute(
  context: ResponseContext,
  payment: Payment | undefined,
  { status, amountMicros: priceMicros }: Resolution,
): void {
  const isOpen = payment?.disputes?.at(-1)?.status === 'open';
  if (!isOpen && status === 'won') throw controlError(422, 'The payment does not have an open dispute.');
  const disputed = isOpen ? payment : openDispute(context, payment);
  if (priceMicros !== undefined && priceMicros > toMicros(disputed.amount))
    throw controlError(422, 'amountMicros: the dispute is about less.');
  const won = priceMicros === undefined ? {} : { wonAmount: formatAmount({ priceMicros }) };
  const resolve = (dispute: Dispute): Dispute => (dispute.status === 'open' ? { ...dispute, ...won, status } : dispute);
  saveDisputes(context, disputed, (disputed.disputes ?? []).map(resolve));
}

function saveDisputes(context: ResponseContext, payment: Payment, disputes: Dispute[]): Payment {
  const disputed = { ...payment, disputes };
  context.state.payments.set(payment.id, disputed);
  emitDisputeWebhook(context, disputed);
  return disputed;
}

const unpaidStatuses: ReadonlySet<string> = new Set(['voided', 'settlement_pending', 'settlement_declined']);

function requirePaid(payment: Payment | undefined): Payment {
  if (!payment || unpaidStatuses.has(payment.status) || isDisputed(payment)) {
    throw controlError(422, 'A payment that can be reversed is not found.');
  }
  return payment;
}
