import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../../lib/foundation/time.ts';
import { merge } from '../../../../lib/purchases/merge.ts';
import type { Observation } from '../../../../lib/purchases/observation.ts';
import { listRefundedAmounts } from '../../../../lib/purchases/refunds.ts';
import { buildOneTimePayload, buildTransactionPayload, purchaseDate } from '../../../../testing/apple-payloads.ts';
import { createSubscriber, validateSignedTransaction } from '../../../../testing/fake-apple.ts';
import { observeNotification } from './notification-fixture.ts';

const refundDate = purchaseDate + 3 * dayMs;
const laterDate = purchaseDate + 4 * dayMs;
const signedDate = purchaseDate + 5 * dayMs;
const revoked = { revocationDate: refundDate };
const refund = (refundAmount: number, date = refundDate, refundType = 'FULL') => ({
  refunds: [{ refundAmount, refundDate: date, refundReason: 'LEGAL', refundType }],
});
const book = { SKU: 'book', price: 5000 };
const film = { SKU: 'film', price: 4000 };
const dated = { revocationDate: refundDate, revocationReason: 0 };
const withItems = (items: readonly object[], changes: object = {}) => ({
  price: items.length === 1 ? 5000 : 9000,
  signedDate,
  advancedCommerceInfo: { items },
  ...changes,
});

const toResult = (observation: Observation | undefined) => {
  const [transaction] = observation?.transactions ?? [];
  return {
    endedAt: observation?.purchase.endedAt,
    refunds: transaction && listRefundedAmounts(transaction).map(({ date, amountMicros }) => [date, amountMicros]),
    refundedAt: transaction?.refundedAt,
  };
};

/** Transactions with items of the Advanced Commerce API, and the end and the refunds of their purchase. */
const cases: [string, object, ReturnType<typeof toResult>][] = [
  [
    'one of two items with the end of its access',
    withItems([{ ...book, ...refund(5000), ...revoked }, film], dated),
    { endedAt: undefined, refunds: [[refundDate, 5_000_000]], refundedAt: undefined },
  ],
  [
    'one of two items, of which only the transaction has a date',
    withItems([{ ...book, ...refund(5000) }, film], dated),
    { endedAt: undefined, refunds: [[refundDate, 5_000_000]], refundedAt: undefined },
  ],
  [
    'both items, one of which keeps access',
    withItems(
      [
        { ...book, ...refund(5000), ...revoked },
        { ...film, ...refund(1000, laterDate, 'CUSTOM') },
      ],
      dated,
    ),
    {
      endedAt: undefined,
      refunds: [
        [refundDate, 5_000_000],
        [laterDate, 1_000_000],
      ],
      refundedAt: undefined,
    },
  ],
  [
    'both items after each other',
    withItems([
      { ...book, ...refund(5000), ...revoked },
      { ...film, ...refund(4000, laterDate), revocationDate: laterDate },
    ]),
    {
      endedAt: laterDate,
      refunds: [
        [refundDate, 5_000_000],
        [laterDate, 4_000_000],
      ],
      refundedAt: laterDate,
    },
  ],
  [
    'the only item',
    withItems([{ ...book, ...refund(5000), ...revoked }], dated),
    { endedAt: refundDate, refunds: [[refundDate, 5_000_000]], refundedAt: refundDate },
  ],
  [
    'the only item, of which only the transaction has a date',
    withItems([{ ...book, ...refund(5000) }], dated),
    { endedAt: refundDate, refunds: [[refundDate, 5_000_000]], refundedAt: refundDate },
  ],
  [
    'the rest of the time of the only item',
    withItems([{ ...book, ...refund(3000, refundDate, 'PRORATED'), ...revoked }], dated),
    { endedAt: refundDate, refunds: [[refundDate, 3_000_000]], refundedAt: undefined },
  ],
  [
    'a part of the price of an item that keeps access',
    withItems([{ ...book, ...refund(3000, refundDate, 'CUSTOM') }]),
    { endedAt: undefined, refunds: [[refundDate, 3_000_000]], refundedAt: undefined },
  ],
  [
    'no item, of which one lost access',
    withItems([{ ...book, ...revoked }, film], dated),
    { endedAt: undefined, refunds: [], refundedAt: undefined },
  ],
];

describe('refund of items of the Advanced Commerce API (App Store)', () => {
  it.each(cases)('maps the refund of %s', async (_title, transaction, expected) => {
    const payload = buildOneTimePayload('Non-Consumable', transaction);
    const bought = await validateSignedTransaction({ transactions: [payload] }, payload);
    expect(toResult(bought.observations[0])).toEqual(expected);
    const notified = await observeNotification({
      type: 'REFUND',
      occurredAt: signedDate,
      transaction: { ...payload, expiresDate: undefined },
    });
    expect(toResult(notified.observations[0])).toEqual(expected);
  });

  it.each(cases)('maps the refund of %s of a subscription', async (_title, transaction, expected) => {
    const status = expected.endedAt === undefined ? 1 : 5;
    const payload = buildTransactionPayload(transaction);
    const validated = await validateSignedTransaction(createSubscriber(status, transaction), payload);
    expect(toResult(validated.observations[0])).toEqual(expected);
    for (const input of [{ status }, { status, renewal: {} }, {}]) {
      const { observations } = await observeNotification({
        type: 'REFUND',
        occurredAt: signedDate,
        ...input,
        transaction,
      });
      expect(toResult(observations[0])).toEqual(expected);
      expect(observations[0]?.asOf).toBe(signedDate);
    }
  });

  it('counts a later refund of the same item, and nothing of an item whose refunds are reversed', async () => {
    const observe = async (type: string, occurredAt: number, items: readonly object[]) => {
      const transaction = { ...withItems(items), signedDate: occurredAt };
      const { observations } = await observeNotification({ type, occurredAt, status: 1, transaction });
      const { refreshToken: _token, ...observation } = observations[0] as Observation;
      return observation;
    };
    const first = refund(1000, refundDate, 'CUSTOM').refunds;
    const second = refund(2000, laterDate, 'CUSTOM').refunds;
    const observations = [
      await observe('REFUND', refundDate, [{ ...book, refunds: first }, film]),
      await observe('REFUND', laterDate, [{ ...book, refunds: [...first, ...second] }, film]),
      await observe('REFUND_REVERSED', signedDate, [book, film]),
    ];
    const sumRefunds = (list: typeof observations): number => {
      const state = list.reduce<ReturnType<typeof merge> | undefined>(merge, undefined);
      const transaction = state?.transactions[0]?.transaction;
      return listRefundedAmounts(transaction as NonNullable<typeof transaction>).reduce(
        (total, { amountMicros = 0 }) => total + amountMicros,
        0,
      );
    };
    for (const order of [(list: typeof observations) => list, (list: typeof observations) => list.toReversed()]) {
      expect(sumRefunds(order(observations.slice(0, 2)))).toBe(3_000_000);
      expect(sumRefunds(order(observations))).toBe(0);
    }
  });
});
