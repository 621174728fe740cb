import type { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { StripeEvent } from './payloads.ts';

type ReasonRule = NotificationReason | ((event: StripeEvent) => NotificationReason);

/**
 * Reasons by event type. Other types do not concern a purchase.
 *
 * @see https://docs.stripe.com/subscriptions/webhooks
 */
const reasonsByType: Readonly<Record<string, ReasonRule>> = {
  'checkout.session.completed': (event) => (isPaid(event) ? 'PURCHASED' : 'OTHER'),
  'checkout.session.async_payment_succeeded': 'PURCHASED',
  'customer.subscription.created': (event) => (grantsAccess(event.data.object.status) ? 'PURCHASED' : 'OTHER'),
  'customer.subscription.updated': toUpdateReason,
  'customer.subscription.deleted': 'EXPIRED',
  'customer.subscription.paused': 'PAUSED',
  'customer.subscription.resumed': 'RENEWED',
  'customer.subscription.pending_update_applied': 'PLAN_CHANGED',
  'invoice.paid': toInvoiceReason,
  'invoice.payment_succeeded': toInvoiceReason,
  'invoice.payment_failed': ({ data }) =>
    data.object.billing_reason === 'subscription_create' ? 'OTHER' : 'ENTERED_GRACE_PERIOD',
  'charge.refunded': 'REFUNDED',
  'refund.created': toRefundReason,
  'refund.updated': toRefundReason,
  'charge.refund.updated': toRefundReason,
  // Stripe withdraws the funds when the dispute is opened. A won dispute returns them.
  // https://support.stripe.com/topics/disputes
  'charge.dispute.closed': ({ data }) => (data.object.status === 'lost' ? 'REVOKED' : 'OTHER'),
  'customer.deleted': 'EXPIRED',
};

/** Maps an event to a reason. Unknown types and types that do not concern a purchase are `OTHER`. */
export function toNotificationReason(event: StripeEvent): NotificationReason {
  const reason = Object.hasOwn(reasonsByType, event.type) ? reasonsByType[event.type] : undefined;
  return typeof reason === 'function' ? reason(event) : (reason ?? 'OTHER');
}

export function revertsCancelation({ type, data: { object, previous_attributes } }: StripeEvent): boolean {
  const { cancel_at_period_end, cancel_at } = previous_attributes ?? {};
  const wasCanceled = Boolean(cancel_at_period_end) || Boolean(cancel_at);
  return type === 'customer.subscription.updated' && wasCanceled && !object.cancel_at_period_end && !object.cancel_at;
}

/** Events of these types make the cached price list stale. */
export const changesPriceList = (type: string): boolean => /^(?:price|product|plan)\./.test(type);

const isPaid = ({ data: { object } }: StripeEvent): boolean =>
  object.payment_status === 'paid' || object.payment_status === 'no_payment_required';
const grantsAccess = (status: unknown): boolean => status === 'active' || status === 'trialing';
const endsAccess = (status: unknown): boolean =>
  status === 'unpaid' || status === 'canceled' || status === 'incomplete_expired';

function toRefundReason({ data: { object } }: StripeEvent): NotificationReason {
  return object.status === 'succeeded' ? 'REFUNDED' : 'OTHER';
}

function toInvoiceReason({ data: { object } }: StripeEvent): NotificationReason {
  switch (object.billing_reason) {
    case 'subscription_create':
      return 'PURCHASED';
    case 'subscription_cycle':
      return 'RENEWED';
    case 'subscription_update':
      return 'PLAN_CHANGED';
    default:
      return 'OTHER';
  }
}

/** Maps the most severe change among the previous attributes. */
function toUpdateReason({ data: { object, previous_attributes } }: StripeEvent): NotificationReason {
  const before = previous_attributes ?? {};
  const changed = (field: string): boolean => Object.hasOwn(before, field);
  if (changed('status')) return toStatusReason(before.status, object.status);
  // Payment collection is paused or resumed. The customer keeps access.
  if (changed('pause_collection')) return 'OTHER';
  if (changed('items') && listPriceIds(before.items) !== listPriceIds(object.items)) return 'PLAN_CHANGED';
  if (changed('cancel_at_period_end') || changed('cancel_at')) {
    return object.cancel_at_period_end || object.cancel_at ? 'WILL_LAPSE' : 'WILL_AUTO_RENEW';
  }
  if (changed('trial_end') && Number(object.trial_end) > Number(before.trial_end)) return 'EXTENDED';
  return changed('items') || changed('current_period_end') ? 'RENEWED' : 'OTHER';
}

function toStatusReason(before: unknown, after: unknown): NotificationReason {
  if (after === 'past_due') return 'ENTERED_GRACE_PERIOD';
  if (after === 'paused') return 'PAUSED';
  if (endsAccess(after)) return 'EXPIRED';
  if (!grantsAccess(after)) return 'OTHER';
  return before === 'incomplete' ? 'PURCHASED' : 'RENEWED';
}

/** Lists the price ids of a subscription's items, separated by commas. */
function listPriceIds(items: unknown): string {
  const { data } = (items ?? {}) as { readonly data?: readonly { readonly price?: { readonly id?: string } }[] };
  return (Array.isArray(data) ? data : []).map(({ price }) => price?.id ?? '').join();
}
