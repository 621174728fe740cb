import * as v from 'valibot';
import type { Store } from '../store.ts';
import { toRenewalNotice } from '../to-renewal-notice.ts';
import { toPurchaseId } from './known-purchases.ts';
import { toNotificationReason } from './notification-reason.ts';
import { NotificationPayload } from './parse-notification.ts';

/** The push proves a renewal or an end of the subscription: Google sends `SUBSCRIPTION_RENEWED` when it is paid. */
export const findRenewalNotice: NonNullable<Store['findRenewalNotice']> = ({ type, occurredAt, payload }) => {
  const subject = v.safeParse(NotificationPayload, payload);
  if (!subject.success || subject.output.token === undefined || !type.startsWith('SUBSCRIPTION_')) return undefined;
  const notice = toRenewalNotice(toNotificationReason(type), occurredAt);
  return notice && { purchaseId: toPurchaseId(subject.output.token), notice };
};
