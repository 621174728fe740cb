import * as v from 'valibot';
import { withPlatform } from '../../foundation/platform.ts';
import { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { Store, StoreNotification } from '../store.ts';
import { toRenewalNotice } from '../to-renewal-notice.ts';
import type { StripePlatform } from './mapping-context.ts';

const NotificationPayload = v.object({ reason: NotificationReason, subjectId: v.string() });

/**
 * The signed notification proves the payment of a renewal, or the end of a subscription. An update of the subscription
 * does not prove a payment: Stripe starts the next period about an hour before it attempts the payment.
 *
 * @see https://docs.stripe.com/billing/subscriptions/webhooks
 */
export function findRenewalNotice(
  { type, occurredAt, payload }: StoreNotification,
  platform: StripePlatform,
): ReturnType<NonNullable<Store['findRenewalNotice']>> {
  const subject = v.safeParse(NotificationPayload, payload);
  if (!subject.success || !/^(?:invoice|customer\.subscription)\./.test(type)) return undefined;
  const { reason, subjectId: id } = subject.output;
  const notice = toRenewalNotice(reason, occurredAt);
  if (!notice?.isEnd && !type.startsWith('invoice.')) return undefined;
  return notice && { purchaseId: withPlatform(platform, id), notice };
}
