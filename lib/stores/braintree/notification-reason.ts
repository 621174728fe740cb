import type { EpochMillis } from '../../foundation/time.ts';
import type { NotificationReason } from '../../purchases/lifecycle-reasons.ts';

/** The members of a notification that determine its reason. */
export interface NotificationFacts {
  readonly kind: string;
  /** Time at which Braintree created the notification. */
  readonly at: EpochMillis;
  readonly currentBillingCycle?: number | undefined;
  /** End of the last paid day of the subscription. */
  readonly paidUntil?: EpochMillis | undefined;
}

type ReasonRule = NotificationReason | ((facts: NotificationFacts) => NotificationReason);

/**
 * Reasons by notification kind. Other kinds do not concern a purchase.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/webhooks/subscription/node
 * @see https://developer.paypal.com/braintree/docs/reference/general/webhooks/dispute/node
 */
const reasonsByKind: Readonly<Record<string, ReasonRule>> = {
  check: 'TEST',
  subscription_went_active: 'PURCHASED',
  subscription_charged_successfully: ({ currentBillingCycle }) => (currentBillingCycle === 1 ? 'PURCHASED' : 'RENEWED'),
  subscription_charged_unsuccessfully: 'ENTERED_GRACE_PERIOD',
  subscription_went_past_due: 'ENTERED_GRACE_PERIOD',
  subscription_canceled: (facts) => (isPaidFor(facts) ? 'WILL_LAPSE' : 'EXPIRED'),
  subscription_expired: 'EXPIRED',
  transaction_settlement_declined: 'REVOKED',
  dispute_lost: 'REVOKED',
  dispute_accepted: 'REVOKED',
  dispute_auto_accepted: 'REVOKED',
  dispute_expired: 'REVOKED',
};

/** Maps a notification to a reason. Unknown kinds and kinds that do not concern a purchase are `OTHER`. */
export function toNotificationReason(facts: NotificationFacts): NotificationReason {
  const rule = Object.hasOwn(reasonsByKind, facts.kind) ? reasonsByKind[facts.kind] : undefined;
  return typeof rule === 'function' ? rule(facts) : (rule ?? 'OTHER');
}

const isPaidFor = ({ paidUntil, at }: NotificationFacts): boolean => paidUntil !== undefined && paidUntil > at;
