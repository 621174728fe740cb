import { expect, it } from '@jest/globals';
import * as v from 'valibot';
import { BraintreeTransaction } from '../../../../lib/stores/processor-b/payloads.ts';
import { toPaymentObservation } from '../../../../lib/stores/processor-b/payment-observation.ts';
import { findReversalDate } from '../../../../lib/stores/processor-b/payment-reversals.ts';

const payment = (changes: object = {}) =>
  v.parse(BraintreeTransaction, {
    id: 'tx1',
    type: 'sale',
    status: 'settled',
    amount: '10.00',
    currencyIsoCode: 'USD',
    createdAt: '2027-01-01T00:00:00Z',
    updatedAt: '2027-01-05T00:00:00Z',
    ...changes,
  });

const dispute = (status: string, changes: object = {}) => ({
  status,
  amountDisputed: '10.00',
  createdAt: '2027-01-02T00:00:00Z',
  receivedDate: '2027-01-02',
  updatedAt: '2027-01-09T00:00:00Z',
  statusHistory: [
    { status: 'open', timestamp: '2027-01-02T00:00:00Z', effectiveDate: '2027-01-02' },
    { status, timestamp: '2027-01-07T00:00:00Z', effectiveDate: '2027-01-07' },
  ],
  ...changes,
});

const refund = (amount: string) => payment({ id: 'rf1', type: 'credit', amount, createdAt: '2027-01-03T00:00:00Z' });

it.each<[string, object, string | undefined]>([
  ['is not in dispute', {}, undefined],
  ['is in a dispute that is open', { disputes: [dispute('open')] }, undefined],
  ['is in a dispute that was won', { disputes: [dispute('won')] }, undefined],
  ['is in a dispute that was lost', { disputes: [dispute('lost')] }, '2027-01-07'],
  ['is in a dispute that was accepted', { disputes: [dispute('accepted')] }, '2027-01-07'],
  ['is in a dispute that accepted itself', { disputes: [dispute('auto_accepted')] }, '2027-01-07'],
  ['is in a dispute that nobody answered', { disputes: [dispute('expired')] }, '2027-01-07'],
  ['lost a dispute without a history', { disputes: [dispute('lost', { statusHistory: [] })] }, '2027-01-09'],
  ['lost a dispute about a part of it', { disputes: [dispute('lost', { amountDisputed: '4.00' })] }, undefined],
  ['won one dispute and lost another', { disputes: [dispute('won'), dispute('lost')] }, '2027-01-07'],
  ['was declined when it was to be settled', { status: 'settlement_declined' }, '2027-01-05'],
  ['was voided', { status: 'voided' }, '2027-01-05'],
])('a payment that %s went back at %s', (_what, changes, at) => {
  expect(findReversalDate(payment(changes), [])).toBe(at === undefined ? undefined : Date.parse(at));
});

it('a part that was refunded and a part that was lost in a dispute are the whole', () => {
  const given = payment({ refundIds: ['rf1'], disputes: [dispute('lost', { amountDisputed: '4.00' })] });
  expect(findReversalDate(given, [refund('5.99')])).toBeUndefined();
  expect(findReversalDate(given, [refund('6.00')])).toBe(Date.parse('2027-01-07'));
});

it('a payment that is not settled ends its purchase for want of money', () => {
  const origin = { productId: 'coins', customerId: 'ann', sandbox: true, graceMs: 0, at: Date.parse('2027-02-01') };
  const endedAt = Date.parse('2027-01-05');
  expect(toPaymentObservation(payment({ status: 'settlement_declined' }), [], origin)).toMatchObject({
    purchase: { endedAt, cancelationReason: 'System.BillingError' },
    transactions: [{ refundedAt: endedAt }],
  });
});
