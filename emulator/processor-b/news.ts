import type { Source } from './books.ts';
import type { Payment } from './records.ts';
import { disputeView, second, subscriptionView } from './views.ts';
import type { Value } from './xml.ts';

interface Told {
  readonly id: string;
  readonly at: number;
}

/** Tells of a subscription as it is now. */
export function tellOf(source: Source, kind: string, { id, ...told }: Told): void {
  // A renewal that is asked for early bills the coming period, but is told of now.
  const at = Math.min(told.at, source.now());
  const subscription = source.books.subscriptions.get(id);
  if (subscription === undefined) throw new Error(`There is no subscription ${id}`);
  const subject = { subscription: subscriptionView(source.books, subscription, at) };
  source.tell({ purchaseId: id, at, native: notice(kind, at, subject) });
}

/** Tells of the dispute of a payment, in one of its states. */
export function tellOfDispute(source: Source, payment: Payment, status: 'open' | 'lost'): void {
  const at = source.now();
  const subject = { dispute: disputeView(payment, status) };
  const purchaseId = payment.subscriptionId ?? payment.id;
  source.tell({ purchaseId, at, native: notice(`dispute_${status === 'open' ? 'opened' : status}`, at, subject) });
}

/** Tells of nothing, as the merchant wants it who tries a webhook. */
export function tellCheck(source: Source, purchaseId: string): void {
  const at = source.now();
  source.tell({ purchaseId, at, native: notice('check', at, { check: true }) });
}

const notice = (kind: string, at: number, subject: Value): Readonly<Record<string, Value>> => ({
  kind,
  timestamp: second(at),
  subject,
});
