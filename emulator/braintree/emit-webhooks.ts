import type { ResponseContext } from './merchant-state.ts';
import type { Payment } from './records.ts';
import { toDisputeView, toPaymentView, toSubscriptionView, toTimestamp } from './views.ts';
import type { XmlValue } from './xml.ts';

interface WebhookSubject {
  readonly id: string;
  readonly at: number;
}

/** Emits a webhook with the current state of a subscription. */
export function emitSubscriptionWebhook(
  context: ResponseContext,
  kind: string,
  { id, ...subject }: WebhookSubject,
): void {
  // A `renew` action before the end of the period bills the next period, but its webhook occurs now.
  const at = Math.min(subject.at, context.now());
  const subscription = context.state.subscriptions.get(id);
  if (subscription === undefined) throw new Error(`Subscription ${id} is not found`);
  const content = { subscription: toSubscriptionView(context.state, subscription, at) };
  context.emitNotification({ purchaseId: id, at, native: buildWebhook(kind, at, content) });
}

/** Emits a webhook with the current state of a payment, or of a refund of the purchase. */
export function emitTransactionWebhook(
  context: ResponseContext,
  kind: string,
  payment: Payment,
  purchaseId = payment.id,
): void {
  const at = context.now();
  const content = { transaction: toPaymentView(payment, at) };
  context.emitNotification({ purchaseId, at, native: buildWebhook(kind, at, content) });
}

/** Emits a webhook for the latest dispute of a payment. */
export function emitDisputeWebhook(context: ResponseContext, payment: Payment): void {
  const at = context.now();
  const dispute = payment.disputes?.at(-1);
  if (dispute === undefined) throw new Error(`Payment ${payment.id} is not disputed`);
  const { status } = dispute;
  const subject = { dispute: toDisputeView(payment, dispute) };
  const purchaseId = payment.subscriptionId ?? payment.id;
  context.emitNotification({
    purchaseId,
    at,
    native: buildWebhook(`dispute_${status === 'open' ? 'opened' : status}`, at, subject),
  });
}

/** Emits the `check` webhook, which merchants send to test their endpoint. */
export function emitCheckWebhook(context: ResponseContext, purchaseId: string): void {
  const at = context.now();
  context.emitNotification({ purchaseId, at, native: buildWebhook('check', at, { check: true }) });
}

const buildWebhook = (kind: string, at: number, subject: XmlValue): Readonly<Record<string, XmlValue>> => ({
  kind,
  timestamp: toTimestamp(at),
  subject,
});
