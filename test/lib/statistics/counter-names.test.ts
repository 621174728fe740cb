import { describe, expect, it } from '@jest/globals';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { PaymentFigures } from '../../../lib/purchases/payment-figures.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { sumFigureCounts } from '../../../lib/statistics/count-figures.ts';
import { countStoredItem, type ItemCounts } from '../../../lib/statistics/count-item.ts';
import { createObservation, createTransaction, startDate } from '../../../testing/given.ts';

const { purchase } = createObservation({ productId: 'store_a:gold', purchaseDate: startDate });
const end = startDate + 30 * dayMs;

const countPayment = (changes: Partial<Transaction>, figures: Omit<PaymentFigures, 'share'> = {}): ItemCounts =>
  countStoredItem({
    kind: 'transaction',
    item: {
      transaction: createTransaction(purchase, {
        amountMicros: 10_000_000,
        currency: 'EUR',
        storefront: 'DEU',
        ...(!changes.currency && { usdRate: '1.1/1' }),
        ...changes,
      }),
      figures: { share: 8_500, isByCell: true, end, ...figures },
    },
  });

/** Lists the names of the sums of an item in all counters, without platforms and cells. */
const listNames = ({ days, products, figures }: ItemCounts): string[] => {
  const all = [...days.values(), ...products.map(({ counts }) => counts), ...figures.map(({ counts }) => counts)];
  const names = all.flatMap((counts) => Object.keys(counts));
  return [...new Set(names.map((name) => name.replace(/^(store_a|[\w-]{8}\.[A-Z]{2})\//, '')))].sort();
};

describe('names of stored sums', () => {
  it.each<[string, ItemCounts, string]>([
    [
      'purchase',
      countStoredItem({
        kind: 'purchase',
        item: { createdAt: startDate, purchase, entitledUsers: ['ann'], checkedAt: end + dayMs, transactions: [] },
      }),
      'P.0 active',
    ],
    ['customer', countStoredItem({ kind: 'customer', item: { createdAt: startDate } }), 'C.0'],
    [
      'change of credits',
      countStoredItem({
        kind: 'creditEntry',
        item: { at: startDate, type: 'given', credit: 'coins', amount: 1, isSandbox: false },
      }),
      'coins/given',
    ],
    ['event', countStoredItem({ kind: 'event', item: { date: startDate, type: 'receipt.validated' } }), 'requests'],
    [
      'event of a store',
      countStoredItem({ kind: 'event', item: { date: startDate, type: 'webhook.store_a.called' } }),
      'received requests',
    ],
    [
      'notification',
      countStoredItem({
        kind: 'notification',
        item: {
          date: startDate,
          reason: 'RENEWED',
          platform: 'store_a',
          productId: 'store_a:gold',
          isSubscription: true,
        },
      }),
      'N.RENEWED NS.RENEWED',
    ],
    [
      'first payment of a customer',
      countPayment({}, { customerSince: startDate - 60 * dayMs, payerCreatedAt: startDate }),
      'EUR.g EUR.micros EUR.p EUR.paid EUR.transactions EUR.usd EUR@1M@10000000 T.0 began c25-11:g1 c25-11:k c25-11:n c25-11:p1 c26-01:k g.lost g.new left m26-01:g0 m26-01:n m26-01:p0 p.lost p.new paid transactions usd usd.g usd.p v25-10-27:g1 v25-10-27:k v25-10-27:n v25-10-27:p1 v25-12-29:k w25-12-29:a1 w25-12-29:a4 w25-12-29:g0 w25-12-29:n w25-12-29:p0',
    ],
    [
      'payment of a later period',
      countPayment(
        {},
        { firstPaidAt: startDate - 30 * dayMs, previous: { end: startDate, monthly: [9, 9, 8, 8], country: 'FR' } },
      ),
      'EUR.g EUR.micros EUR.p EUR.paid EUR.transactions EUR.usd EUR@1M@10000000 T.0 g.down g.lost g.rate g.up left m25-12:a1 m25-12:a2 m25-12:g1 m25-12:p1 moved p.down p.lost p.rate p.up paid q.down q.lost q.rate transactions usd usd.g usd.p w25-12-01:a4 w25-12-01:a9 w25-12-01:g4 w25-12-01:p4',
    ],
    [
      'payment after a trial, refunded',
      countPayment(
        { refundedAt: startDate + dayMs },
        {
          trialAt: startDate - 7 * dayMs,
          isInvoluntary: true,
        },
      ),
      'EUR.g EUR.micros EUR.p EUR.paid EUR.r EUR.transactions EUR.usd EUR@1M@10000000 T.0 began converted failed g.lost g.new left m26-01:g0 m26-01:n m26-01:r0 p.down p.new paid r.down r.lost transactions unconverted usd usd.g usd.p usd.r w25-12-29:a1 w25-12-29:a4 w25-12-29:g0 w25-12-29:n w25-12-29:r0',
    ],
    [
      'payment without a rate',
      countPayment({ currency: 'XTS' }),
      'T.0 XXX.g XXX.micros XXX.p XXX.paid XXX.transactions XXX.unrated XXX@1M@10000000 bare began left m26-01:n paid transactions unrated w25-12-29:a1 w25-12-29:a4 w25-12-29:n',
    ],
  ])('equal the names of a %s of earlier releases', (_title, counts, names) => {
    expect(listNames(counts).join(' ')).toBe(names);
  });
});

/** The renewals in one month of subscriptions that started in each week of two years, each with a partial refund. */
const countRenewals = (storefront: string): ItemCounts[] =>
  Array.from({ length: 102 }, (_, week) =>
    countPayment(
      {
        purchaseDate: startDate,
        storefront,
        storeProceedsMicros: 3_000_000,
        partialRefunds: [{ id: 'refund', date: startDate, amountMicros: 1_000_000 }],
      },
      {
        previous: { end: startDate },
        firstPaidAt: startDate - (102 - week) * 7 * dayMs,
        customerSince: startDate - (102 - week) * 7 * dayMs,
      },
    ),
  );

it('stay far below the 400 KB of an item with 33 countries and subscriptions of two years', () => {
  const countries =
    'AT AU BE BR CA CH CL CO CZ DE DK ES FI FR GB GR HU IE IN IT JP KR MX NL NO NZ PL PT RO SE TR US ZA';
  // First by country: each sum copies the sums before it.
  const counters = sumFigureCounts(
    countries
      .split(' ')
      .flatMap((country) => sumFigureCounts(countRenewals(country).flatMap(({ figures }) => figures))),
  );
  expect(Math.max(...counters.map(({ counts }) => JSON.stringify(counts).length))).toBeLessThan(40_000);
  const cohorts = counters.filter(({ kind }) => kind === 'cohorts');
  expect(new Set(cohorts.map(({ country }) => country)).size).toBe(33);
});
