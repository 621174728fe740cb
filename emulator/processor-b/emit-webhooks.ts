import type { ResponseContext } from './merchant-state.ts';
import type { Payment } from './records.ts';
import { toDisputeView, toSubscriptionView, toTimestamp } from './views.ts';
import type { XmlValue } from './xml.ts';

interface WebhookSubject {
  readonly id: string;
  readonly at: number;
}

/** Tells of a subscription as it is now. */
export function emitSubscriptionWebhook(context: ResponseContext, kind: string, { id, ...told }: WebhookSubject): void {
  // A renewal that is asked for early bills the coming period, but is told of now.
  const at = Math.min(told.at, context.now());
  const subscription = context.books.subscriptions.get(id);
  if (subscription === undefined) throw new Error(`There is no subscription ${id}`);
  const subject = { subscription: toSubscriptionView(context.books, subscription, at) };
  context.tell({ purchaseId: id, at, native: buildWebhook(kind, at, subject) });
}

/** Tells of the dispute of a payment, in one of its states. */
export function emitDisputeWebhook(context: ResponseContext, payment: Payment, status: 'open' | 'lost'): void {
  const at = context.now();
  const subject = { dispute: toDisputeView(payment, status) };
  const purchaseId = payment.subscriptionId ?? payment.id;
  context.tell({
    purchaseId,
    at,
    native: buildWebhook(`dispute_${status === 'open' ? 'opened' : status}`, at, subject),
  });
}

/** Tells of nothing, as the merchant wants it who tries a webhook. */
export function emitCheckWebhook(context: ResponseContext, purchaseId: string): void {
  const at = context.now();
  context.tell({ purchaseId, at, native: buildWebhook('check', at, { check: true }) });
}

const buildWebhook = (kind: string, at: number, subject: XmlValue): Readonly<Record<string, XmlValue>> => ({
  kind,
  timestamp: toTimestamp(at),
  subject,
});
