import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { toNotificationReason } from '../../../../lib/stores/braintree/notification-reason.ts';
import { officialKinds } from './official-client.ts';

const at = Date.parse('2027-02-10T12:00:00Z');

describe('toNotificationReason (Braintree)', () => {
  it.each([
    ['subscription_went_active', {}, 'PURCHASED'],
    ['subscription_charged_successfully', { currentBillingCycle: 1 }, 'PURCHASED'],
    ['subscription_charged_successfully', { currentBillingCycle: 2 }, 'RENEWED'],
    ['subscription_charged_successfully', {}, 'RENEWED'],
    ['subscription_charged_unsuccessfully', {}, 'ENTERED_GRACE_PERIOD'],
    ['subscription_went_past_due', {}, 'ENTERED_GRACE_PERIOD'],
    ['subscription_canceled', { paidUntil: Date.parse('2027-02-11') + dayMs }, 'WILL_LAPSE'],
    ['subscription_canceled', { paidUntil: Date.parse('2027-02-10') + dayMs }, 'WILL_LAPSE'],
    ['subscription_canceled', { paidUntil: Date.parse('2027-02-09') + dayMs }, 'EXPIRED'],
    ['subscription_canceled', {}, 'EXPIRED'],
    ['subscription_expired', {}, 'EXPIRED'],
    ['subscription_trial_ended', {}, 'OTHER'],
    ['subscription_billing_skipped', {}, 'OTHER'],
    ['transaction_settlement_declined', {}, 'REVOKED'],
    ['transaction_settled', {}, 'OTHER'],
    ['transaction_disbursed', {}, 'OTHER'],
    ['transaction_reviewed', {}, 'OTHER'],
    ['transaction_retried', {}, 'OTHER'],
    ['dispute_lost', {}, 'REVOKED'],
    ['dispute_accepted', {}, 'REVOKED'],
    ['dispute_auto_accepted', {}, 'REVOKED'],
    ['dispute_expired', {}, 'REVOKED'],
    ['dispute_opened', {}, 'OTHER'],
    ['dispute_won', {}, 'OTHER'],
    ['dispute_disputed', {}, 'OTHER'],
    ['dispute_under_review', {}, 'OTHER'],
    ['local_payment_completed', {}, 'OTHER'],
    ['local_payment_funded', {}, 'OTHER'],
    ['local_payment_reversed', {}, 'OTHER'],
    ['local_payment_expired', {}, 'OTHER'],
    ['refund_failed', {}, 'OTHER'],
    ['disbursement', {}, 'OTHER'],
    ['check', {}, 'TEST'],
    ['unknown_kind', {}, 'OTHER'],
    ['constructor', {}, 'OTHER'],
  ])('maps %s with %j to %s', (kind, facts, reason) => {
    expect(toNotificationReason({ kind, at, ...facts })).toBe(reason);
  });

  it('maps all kinds of the official client that do not concern a purchase to OTHER', () => {
    const otherKinds = officialKinds.filter(
      (kind) => !/^(?:subscription|transaction|dispute|local|refund|check)/.test(kind),
    );
    expect(otherKinds.length).toBeGreaterThan(10);
    for (const kind of otherKinds) expect(toNotificationReason({ kind, at })).toBe('OTHER');
  });
});
