import type { NotificationReason } from '../../notifications/reasons.ts';
import type { WebhookEvent } from './webhook.ts';

type Reasoning = NotificationReason | ((event: WebhookEvent) => NotificationReason);

/** Every event type that means something for a purchase. */
const reasons: Readonly<Record<string, Reasoning>> = {
  'checkout.session.completed': (event) => (isPaid(event) ? 'PURCHASED' : 'OTHER'),
  'checkout.session.async_payment_succeeded': 'PURCHASED',
  'customer.subscription.created': (event) => (gives(event.data.object.status) ? 'PURCHASED' : 'OTHER'),
  'customer.subscription.updated': updated,
  'customer.subscription.deleted': 'EXPIRED',
  'customer.subscription.paused': 'PAUSED',
  'customer.subscription.resumed': 'RENEWED',
  'customer.subscription.pending_update_applied': 'PLAN_CHANGED',
  'invoice.paid': billed,
  'invoice.payment_succeeded': billed,
  'invoice.payment_failed': ({ data }) =>
    data.object.billing_reason === 'subscription_create' ? 'OTHER' : 'ENTERED_GRACE_PERIOD',
  'charge.refunded': 'REFUNDED',
  'refund.created': refund,
  'refund.updated': refund,
  'charge.refund.updated': refund,
  'charge.dispute.closed': ({ data }) => (data.object.status === 'lost' ? 'REVOKED' : 'OTHER'),
  'charge.dispute.funds_withdrawn': 'REVOKED',
  'customer.deleted': 'EXPIRED',
};

/** What an event says in our words; `OTHER` for one that says nothing of a purchase, or that is not known. */
export function reasonOf(event: WebhookEvent): NotificationReason {
  const reason = Object.hasOwn(reasons, event.type) ? reasons[event.type] : undefined;
  return typeof reason === 'function' ? reason(event) : (reason ?? 'OTHER');
}

/** Whether the price list that this service keeps is out of date after an event. */
export const pricesChangedBy = (type: string): boolean => /^(?:price|product|plan)\./.test(type);

const isPaid = ({ data: { object } }: WebhookEvent): boolean =>
  object.payment_status === 'paid' || object.payment_status === 'no_payment_required';
const gives = (status: unknown): boolean => status === 'active' || status === 'trialing';
const ends = (status: unknown): boolean =>
  status === 'unpaid' || status === 'canceled' || status === 'incomplete_expired';

function refund({ data: { object } }: WebhookEvent): NotificationReason {
  return object.status === 'succeeded' ? 'REFUNDED' : 'OTHER';
}

function billed({ data: { object } }: WebhookEvent): NotificationReason {
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

/** The first difference that says anything, the gravest first. */
function updated({ data: { object, previous_attributes } }: WebhookEvent): NotificationReason {
  const before = previous_attributes ?? {};
  const changed = (field: string): boolean => Object.hasOwn(before, field);
  if (changed('status')) return statusReason(before.status, object.status);
  if (changed('pause_collection')) return object.pause_collection ? 'PAUSED' : 'RENEWED';
  if (changed('items') && pricesIn(before.items) !== pricesIn(object.items)) return 'PLAN_CHANGED';
  if (changed('cancel_at_period_end') || changed('cancel_at')) {
    return object.cancel_at_period_end || object.cancel_at ? 'WILL_LAPSE' : 'WILL_AUTO_RENEW';
  }
  if (changed('trial_end') && Number(object.trial_end) > Number(before.trial_end)) return 'EXTENDED';
  return changed('items') || changed('current_period_end') ? 'RENEWED' : 'OTHER';
}

function statusReason(before: unknown, after: unknown): NotificationReason {
  if (after === 'past_due') return 'ENTERED_GRACE_PERIOD';
  if (after === 'paused') return 'PAUSED';
  if (ends(after)) return 'EXPIRED';
  if (!gives(after)) return 'OTHER';
  return before === 'incomplete' ? 'PURCHASED' : 'RENEWED';
}

/** The prices of a subscription's items, in one text. */
function pricesIn(items: unknown): string {
  const { data } = (items ?? {}) as { readonly data?: readonly { readonly price?: { readonly id?: string } }[] };
  return (Array.isArray(data) ? data : []).map(({ price }) => price?.id ?? '').join();
}
