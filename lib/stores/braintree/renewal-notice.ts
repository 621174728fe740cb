import * as v from 'valibot';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { Store } from '../store.ts';
import { toRenewalNotice } from '../to-renewal-notice.ts';

const NotificationPayload = v.object({ reason: NotificationReason, subscription: v.string() });

/** The signed notification proves the payment of a renewal, or the end of a subscription. */
export const findRenewalNotice: NonNullable<Store['findRenewalNotice']> = ({ type, occurredAt, payload }) => {
  const subject = v.safeParse(NotificationPayload, payload);
  if (!subject.success || !type.startsWith('subscription_')) return undefined;
  const { reason, subscription: id } = subject.output;
  const notice = toRenewalNotice(reason, occurredAt);
  return notice && { purchaseId: withPlatform(platformTokens.braintree, id), notice };
};
