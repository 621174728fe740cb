import { describe, expect, it } from '@jest/globals';
import { describeEventType } from '../../console/pages/event-types.ts';

describe('describeEventType', () => {
  it.each([
    ['purchases.read', 'Purchases read'],
    ['client-token.created', 'Client token created'],
    ['grant.created', 'Access granted'],
    ['webhook.store_a.called', 'Notification of App Store'],
    ['webhook.store_a.recovered', 'Notification of App Store'],
    ['webhook.replayed', 'Webhook replayed'],
  ])('names %s', (type, name) => {
    expect(describeEventType(type)).toBe(name);
  });

  it.each([
    ['receipt.validated', 'Receipt not validated'],
    ['receipt.refreshed', 'Refresh failed'],
  ])('names a failed %s as a failure', (type, name) => {
    expect(describeEventType(type, true)).toBe(name);
  });
});
