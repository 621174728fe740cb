import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { merge } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { listRefundedAmounts } from '../../../../lib/purchases/refunds.ts';
import { BraintreeTransaction } from '../../../../lib/stores/braintree/payloads.ts';
import { toPaymentObservations } from '../../../../lib/stores/braintree/payment-observation.ts';
import { findReversals } from '../../../../lib/stores/braintree/payment-reversals.ts';

const givenPayment = (changes: object = {}) =>
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

const givenDispute = (status: string, changes: object = {}) => ({
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

const givenRefund = (amount: string) =>
  givenPayment({ id: 'rf1', type: 'credit', amount, createdAt: '2027-01-03T00:00:00Z' });

type Refund = ReturnType<typeof givenRefund>;

const context = {
  productId: 'coins',
  productTypes: {},
  customerId: 'ann',
  sandbox: true,
  timeZone: 'America/Chicago',
  graceMs: 0,
  asOf: Date.parse('2027-02-01'),
};

describe('findReversals', () => {
  it.each<[string, object, string | undefined]>([
    ['without a dispute', {}, undefined],
    ['with an open dispute', { disputes: [givenDispute('open')] }, undefined],
    ['with a won dispute', { disputes: [givenDispute('won')] }, undefined],
    ['with a lost dispute', { disputes: [givenDispute('lost')] }, '2027-01-07'],
    ['with an accepted dispute', { disputes: [givenDispute('accepted')] }, '2027-01-07'],
    ['with an automatically accepted dispute', { disputes: [givenDispute('auto_accepted')] }, '2027-01-07'],
    ['with an expired dispute', { disputes: [givenDispute('expired')] }, '2027-01-07'],
    [
      'with a lost dispute without a history',
      { disputes: [givenDispute('lost', { statusHistory: [] })] },
      '2027-01-09',
    ],
    [
      'with a lost dispute of a part of the amount',
      { disputes: [givenDispute('lost', { amountDisputed: '4.00' })] },
      undefined,
    ],
    [
      'with a lost dispute in another currency',
      { disputes: [givenDispute('lost', { amountDisputed: '6.70', currencyIsoCode: 'EUR' })] },
      '2027-01-07',
    ],
    ['with a won and a lost dispute', { disputes: [givenDispute('won'), givenDispute('lost')] }, '2027-01-07'],
    ['with a declined settlement', { status: 'settlement_declined' }, '2027-01-05'],
    ['that was voided', { status: 'voided' }, '2027-01-05'],
    ...['authorization_expired', 'failed', 'processor_declined'].flatMap(
      (status): [string, object, string | undefined][] => {
        const failure = { status, timestamp: '2027-01-08T00:00:00Z' };
        const authorization = { status: 'authorized', timestamp: '2027-01-01T00:00:00Z' };
        return [
          [
            `that is ${status} after its authorization`,
            { status, statusHistory: [failure, authorization] },
            '2027-01-08',
          ],
          [`that was ${status} at once`, { status, statusHistory: [failure] }, undefined],
        ];
      },
    ),
  ])('returns the reversal date of a payment %s: %s', (_state, changes, at) => {
    expect(findReversals(givenPayment(changes), []).refundedAt).toBe(at === undefined ? undefined : Date.parse(at));
  });

  it('returns the refunds of parts with their own dates, without the one that completes a full refund', () => {
    const refunds = ['3.00', '2.00', '5.00'].map((amount, index) =>
      givenPayment({ id: `rf${index}`, type: 'credit', amount, createdAt: `2027-01-0${index + 2}T00:00:00Z` }),
    );
    const toReversals = (count: number) =>
      findReversals(givenPayment({ refundIds: ['rf0', 'rf1', 'rf2'].slice(0, count) }), refunds);
    const partialRefunds = [
      { id: 'rf0', date: Date.parse('2027-01-02'), amountMicros: 3_000_000 },
      { id: 'rf1', date: Date.parse('2027-01-03'), amountMicros: 2_000_000 },
    ];
    expect([0, 1, 2, 3].map(toReversals)).toEqual([
      {},
      { partialRefunds: partialRefunds.slice(0, 1) },
      { partialRefunds },
      { partialRefunds, refundedAt: Date.parse('2027-01-04') },
    ]);
  });

  it.each(['failed', 'settlement_declined', 'voided'])('returns the money of a counted refund that is %s', (status) => {
    const payment = givenPayment({ refundIds: ['rf1'] });
    const observeRefund = (refund: Refund, asOf: string) => {
      const [observed] = toPaymentObservations(payment, [refund], { ...context, asOf: Date.parse(asOf) });
      const { refreshToken: _token, ...observation } = observed as Observation;
      return observation;
    };
    for (const amount of ['3.00', '10.00']) {
      const counted = merge(undefined, observeRefund(givenRefund(amount), '2027-01-04'));
      const failed = merge(counted, observeRefund({ ...givenRefund(amount), status }, '2027-01-06'));
      const countRefunds = ({ transactions }: typeof failed) =>
        transactions.flatMap(({ transaction }) => listRefundedAmounts(transaction)).length;
      expect([countRefunds(counted), countRefunds(failed)]).toEqual([1, 0]);
      expect(failed.purchase).not.toHaveProperty('endedAt');
    }
  });

  it('completes the refund with the last of two refunds in one second', () => {
    const [first, second] = ['rf1', 'rf2'].map((id) => ({ ...givenRefund('5.00'), id })) as [Refund, Refund];
    const payment = givenPayment({ refundIds: ['rf1', 'rf2'] });
    for (const refunds of [
      [first, second],
      [second, first],
    ])
      expect(findReversals(payment, refunds).partialRefunds).toMatchObject([{ id: 'rf1' }]);
  });

  it.each<[string, object, readonly object[] | undefined]>([
    ['open', {}, [{ status: 'disputed', amountMicros: 10_000_000 }]],
    ['under_review', { amountDisputed: '4.00' }, [{ status: 'disputed', amountMicros: 4_000_000 }]],
    ['won', {}, [{ status: 'returned' }]],
    ['won', { amountWon: '10.00' }, [{ status: 'returned' }]],
    ['won', { amountWon: '0.00' }, [{ status: 'returned' }]],
    [
      'won',
      { amountWon: '4.00' },
      [
        { id: 'dispute', status: 'returned' },
        { id: 'dispute:lost', amountMicros: 6_000_000, date: Date.parse('2027-01-02') },
      ],
    ],
    ['open', { amountDisputed: '1600', currencyIsoCode: 'JPY' }, [{ status: 'disputed', amountMicros: 10_000_000 }]],
    ['open', { kind: 'retrieval' }, undefined],
    ...['lost', 'accepted', 'expired'].map((retrieved): [string, object, undefined] => [
      retrieved,
      { kind: 'retrieval' },
      undefined,
    ]),
    ['unknown_status', {}, undefined],
  ])('counts the amount of a dispute with the status %s and %j until it is returned', (status, changes, expected) => {
    const { refundedAt, partialRefunds } = findReversals(
      givenPayment({ disputes: [givenDispute(status, changes)] }),
      [],
    );
    expect(refundedAt).toBeUndefined();
    if (expected) expect(partialRefunds).toMatchObject(expected);
    else expect(partialRefunds).toBeUndefined();
  });

  it.each([
    ['open', 'lost', '10.00', 'disputed'],
    ['under_review', 'accepted', '10.00', 'disputed'],
    ['open', 'lost', '4.00', undefined],
  ])('keeps the date of the debit of a dispute that was %s and is %s (%s)', (open, lost, amountDisputed, status) => {
    const find = (state: string) =>
      findReversals(givenPayment({ disputes: [givenDispute(state, { amountDisputed })] }), []).partialRefunds;
    const debit = { id: 'dispute', amountMicros: Number(amountDisputed) * 1e6, date: Date.parse('2027-01-02') };
    expect(find(open)).toEqual([{ ...debit, status: 'disputed' }]);
    expect(find(lost)).toEqual([{ ...debit, ...(status && { status }) }]);
  });

  it.each<[statuses: string[], refundedAt: string | undefined, parts: readonly (string | undefined)[]]>([
    [['won', 'open'], undefined, ['returned', 'disputed']],
    [['won', 'won'], undefined, ['returned', 'returned']],
    [['won', 'won', 'open'], undefined, ['returned', 'returned', 'disputed']],
    [['won', 'lost'], '2027-02-07', ['returned', 'disputed']],
    [['won', 'auto_accepted'], '2027-02-07', ['returned', 'disputed']],
    [['won', 'won', 'lost'], '2027-03-07', ['returned', 'returned', 'disputed']],
    // The amount is lost once.
    [['lost', 'lost'], '2027-01-07', ['disputed']],
    [['lost', 'open'], '2027-01-07', ['disputed']],
    [['lost', 'won'], '2027-01-07', ['disputed']],
  ])('counts the amount of the disputes %j of one payment once', (statuses, refundedAt, parts) => {
    const disputes = statuses.map((status, index) => {
      const month = `2027-0${index + 1}`;
      const history = [
        { status: 'open', timestamp: `${month}-02T00:00:00Z` },
        { status, timestamp: `${month}-07T00:00:00Z` },
      ];
      const kind = index === 1 ? 'pre_arbitration' : 'chargeback';
      return givenDispute(status, {
        id: `d${index}`,
        kind,
        createdAt: `${month}-02T00:00:00Z`,
        statusHistory: history,
      });
    });
    const reversals = findReversals(givenPayment({ disputes }), []);
    expect(reversals.refundedAt).toBe(refundedAt === undefined ? undefined : Date.parse(refundedAt));
    expect(reversals.partialRefunds?.map(({ status }) => status)).toEqual(parts);
    const [observed] = toPaymentObservations(givenPayment({ disputes }), [], context);
    const [transaction] = observed?.transactions ?? [];
    const amounts = transaction ? listRefundedAmounts(transaction).map(({ amountMicros = 0 }) => amountMicros) : [];
    const isOpen = statuses.at(-1) === 'open';
    expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(refundedAt || isOpen ? 10_000_000 : 0);
    expect(observed?.purchase.endedAt).toBe(reversals.refundedAt);
  });

  it.each([0, 1, 2])('returns the money of the refund %i of three that failed', (failedIndex) => {
    const amounts = ['2.00', '3.00', '5.00'];
    const payment = givenPayment({ refundIds: ['rf0', 'rf1', 'rf2'] });
    const listRefunds = (failed?: number) =>
      amounts.map((amount, index) => ({
        ...givenPayment({ id: `rf${index}`, type: 'credit', amount, createdAt: `2027-01-0${index + 2}T00:00:00Z` }),
        status: index === failed ? 'failed' : 'settled',
      }));
    const observe = (asOf: string, failed?: number) => {
      const [observed] = toPaymentObservations(payment, listRefunds(failed), { ...context, asOf: Date.parse(asOf) });
      const { refreshToken: _token, ...observation } = observed as Observation;
      return observation;
    };
    const merged = merge(merge(undefined, observe('2027-01-05')), observe('2027-01-08', failedIndex));
    const refunded = merged.transactions.flatMap(({ transaction }) => listRefundedAmounts(transaction));
    expect(refunded.map(({ amountMicros }) => amountMicros)).toEqual(
      amounts.filter((_amount, index) => index !== failedIndex).map((amount) => Number(amount) * 1e6),
    );
    expect(merged.purchase).not.toHaveProperty('endedAt');
  });

  it('reverses a payment with the lost part of a dispute and a refund', () => {
    const disputes = [givenDispute('won', { amountWon: '4.00' })];
    const payment = givenPayment({ refundIds: ['rf1'], disputes });
    expect(findReversals(payment, [givenRefund('4.00')]).refundedAt).toBe(Date.parse('2027-01-03'));
  });

  it.each(['open', 'lost', 'won'])('keeps the date of a full refund before a dispute that is %s', (status) => {
    const disputes = [givenDispute(status, { createdAt: '2027-01-05T00:00:00Z' })];
    const payment = givenPayment({ refundIds: ['rf1'], disputes });
    const refundedAt = Date.parse('2027-01-03');
    const observations = toPaymentObservations(payment, [givenRefund('10.00')], context);
    expect(observations).toMatchObject([{ purchase: { endedAt: refundedAt, cancelationReason: 'Customer' } }]);
    const amounts = observations.flatMap(({ transactions }) => transactions.flatMap(listRefundedAmounts));
    expect(amounts).toMatchObject([{ date: refundedAt, amountMicros: 10_000_000 }]);
  });

  it('adds refunds and lost disputes to the reversed amount', () => {
    const payment = givenPayment({ refundIds: ['rf1'], disputes: [givenDispute('lost', { amountDisputed: '4.00' })] });
    expect(findReversals(payment, [givenRefund('5.99')]).refundedAt).toBeUndefined();
    expect(findReversals(payment, [givenRefund('6.00')]).refundedAt).toBe(Date.parse('2027-01-07'));
  });
});

describe('toPaymentObservations (Braintree reversal)', () => {
  it('ends the purchase of a declined settlement with a billing error', () => {
    const endedAt = Date.parse('2027-01-05');
    expect(toPaymentObservations(givenPayment({ status: 'settlement_declined' }), [], context)).toMatchObject([
      {
        purchase: { endedAt, cancelationReason: 'System.BillingError' },
        transactions: [{ refundedAt: endedAt }],
      },
    ]);
  });
});
