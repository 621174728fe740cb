import type { NotificationReason } from '../../purchases/lifecycle-reasons.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { dayMs } from './mapping-context.ts';

/** What decides the reason of a notification, as far as its kind alone does not. */
export interface NotificationFacts {
  readonly kind: string;
  /** When it was sent. */
  readonly at: EpochMillis;
  readonly currentBillingCycle?: number | undefined;
  /** The last day of a subscription that is paid for. */
  readonly paidThroughDate?: string | undefined;
}

type ReasonRule = NotificationReason | ((told: NotificationFacts) => NotificationReason);

/** Every kind that means something for a purchase; of all others nothing is said. */
const reasonsByKind: Readonly<Record<string, ReasonRule>> = {
  check: 'TEST',
  subscription_went_active: 'PURCHASED',
  subscription_charged_successfully: ({ currentBillingCycle }) => (currentBillingCycle === 1 ? 'PURCHASED' : 'RENEWED'),
  subscription_charged_unsuccessfully: 'ENTERED_GRACE_PERIOD',
  subscription_went_past_due: 'ENTERED_GRACE_PERIOD',
  subscription_canceled: (told) => (isPaidFor(told) ? 'WILL_LAPSE' : 'EXPIRED'),
  subscription_expired: 'EXPIRED',
  transaction_settlement_declined: 'REVOKED',
  dispute_lost: 'REFUNDED',
  dispute_accepted: 'REFUNDED',
  dispute_auto_accepted: 'REFUNDED',
  dispute_expired: 'REFUNDED',
};

/** What a notification says in our words; `OTHER` for one that says nothing of a purchase, or that is not known. */
export function toNotificationReason(told: NotificationFacts): NotificationReason {
  const reason = Object.hasOwn(reasonsByKind, told.kind) ? reasonsByKind[told.kind] : undefined;
  return typeof reason === 'function' ? reason(told) : (reason ?? 'OTHER');
}

const isPaidFor = ({ paidThroughDate, at }: NotificationFacts): boolean =>
  paidThroughDate !== undefined && Date.parse(paidThroughDate) + dayMs > at;
