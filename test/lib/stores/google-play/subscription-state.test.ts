import { describe, expect, it } from '@jest/globals';
import type { Purchase } from '../../../../lib/purchases/purchase.ts';
import type { Subscription } from '../../../../lib/stores/google-play/payloads.ts';
import { toSubscriptionState } from '../../../../lib/stores/google-play/subscription-state.ts';

const now = Date.parse('2026-12-04T12:00:00Z');
const [revokedAt, end] = [now - 3_600_000, now + 86_400_000];
const revoked = { productId: 'extra', expiryTime: revokedAt };
const inState = (state: string, others = { productId: 'premium', expiryTime: end }): Subscription => ({
  subscriptionState: `SUBSCRIPTION_STATE_${state}`,
  lineItems: [others, revoked],
});
const read = (subscription: Subscription, known?: Partial<Purchase>) =>
  toSubscriptionState(subscription, revoked, {
    now,
    known: known as Purchase | undefined,
    wasRetried: false,
    isRefunded: false,
  });
const ended = { cancelationReason: 'Unknown', isBillingRetryPeriod: false, renewalIntent: 'Lapse' };

describe('item of a subscription that has ended while the others continue (Google Play)', () => {
  const known = read(inState('ACTIVE'));

  it('ends at its own date with an unknown reason', () => {
    expect(known).toMatchObject({ ...ended, expirationDate: revokedAt });
  });

  it.each([
    ['the same state is read again', inState('ACTIVE')],
    ['a payment of the others fails', inState('IN_GRACE_PERIOD')],
    ['the others are on hold', inState('ON_HOLD', { productId: 'premium', expiryTime: now })],
    ['the others are paused', inState('PAUSED', { productId: 'premium', expiryTime: now })],
    ['the customer cancels the others', inState('EXPIRED', { productId: 'premium', expiryTime: now })],
  ])('keeps its end and its reason when %s', (_event, subscription) => {
    const later = read(subscription, known);
    expect(later).toMatchObject({ ...ended, expirationDate: revokedAt });
    expect(later.isPaused).toBeUndefined();
    expect(read(subscription, later)).toEqual(later);
  });

  it('does not have the grace period of the others when it is first seen', () => {
    const seen = read(inState('IN_GRACE_PERIOD'));
    expect(seen).toMatchObject(ended);
    expect(read(inState('IN_GRACE_PERIOD'), seen)).toEqual(seen);
  });
});
