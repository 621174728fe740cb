import { describe, expect, it } from '@jest/globals';
import { toNotificationReason } from '../../../../lib/stores/microsoft-store/notification-reason.ts';

describe('toNotificationReason (Microsoft Store)', () => {
  it.each([
    ['Revoked', 'REFUNDED'],
    ['Returned', 'REFUNDED'],
    ['Refunded', 'REFUNDED'],
    ['ChargebackReversal', 'OTHER'],
    ['A state of next year', 'OTHER'],
    ['constructor', 'OTHER'],
  ])('converts the clawback state %s to %s', (state, reason) => {
    expect(toNotificationReason(state)).toBe(reason);
  });
});
