import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getTransaction } from '../../lib/purchases/transaction-contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { listReasons, type NotificationFixture, startNotificationFixture } from './notification-fixture.ts';

let fixture: NotificationFixture;
beforeAll(async () => {
  fixture = await startNotificationFixture();
});
afterAll(() => fixture.close());

const fetchTransaction = async (keys: IssuedApiKeys, transactionId: string) =>
  (await callWithSecretKey(getTransaction, keys, { params: { transactionId } })).body;

describe('partial refund', () => {
  it.each(['processor_a', 'service_processor_a'] as const)(
    'keeps a purchase of %s, announces each refund and sums them up',
    async (platform) => {
      const { keys, act } = await fixture.givenSubscription(platform);
      const once = await act('refund', { amountMicros: 1_000_000 });
      expect(once).toMatchObject({ isExpired: false, renewalIntent: 'Renew', amountMicros: 4_990_000 });
      expect(once).not.toHaveProperty('cancelationReason');
      expect(listReasons(once)).toEqual(['PURCHASED', 'REFUNDED']);
      const { refundDate } = await fetchTransaction(keys, once.transactionId);
      await fixture.callControl('/clock', { advance: 'P2D' });
      const twice = await act('refund', { amountMicros: 500_000 });
      expect(listReasons(twice)).toEqual(['PURCHASED', 'REFUNDED', 'REFUNDED']);
      const transaction = await fetchTransaction(keys, twice.transactionId);
      expect(transaction.refundedAmountMicros).toBe(1_500_000);
      expect(Date.parse(transaction.refundDate) - Date.parse(refundDate)).toBeGreaterThan(0);
    },
  );

  it('ends the purchase when the rest of the payment is refunded', async () => {
    const { keys, act } = await fixture.givenSubscription('processor_a');
    await act('refund', { amountMicros: 1_000_000 });
    const purchase = await act('refund');
    expect(purchase).toMatchObject({ isExpired: true, cancelationReason: 'Customer' });
    expect(listReasons(purchase)).toEqual(['PURCHASED', 'REFUNDED', 'REFUNDED']);
    expect(await fetchTransaction(keys, purchase.transactionId)).toMatchObject({ refundedAmountMicros: 4_990_000 });
  });
});
