import { expect, it } from '@jest/globals';
import { transactionKey } from '../../../lib/foundation/keys.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { aggregateStreamRecords } from '../../../lib/statistics/aggregate-stream.ts';
import { getRetention, type RetentionCohort } from '../../../lib/statistics/cohort-contract.ts';
import { callWithSecretKey } from '../../../testing/call.ts';
import { createObservation, createTransaction } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createTestTable } from '../../../testing/table.ts';
import { createAggregationDeps } from './aggregation-deps.ts';

const countries = 'AT AU BE BR CA CH CL CO CZ DE DK ES FI FR GB GR HU IE IN IT JP KR MX NL NO NZ PL PT RO SE TR US ZA';
const firstWeek = Date.parse('2024-01-03T10:00:00Z');
const paidAt = Date.parse('2025-12-20T10:00:00Z');

/** The renewals in one month of subscriptions that started in each week of two years, each with a partial refund. */
const buildRenewals = (appName: string): object[] =>
  countries.split(' ').flatMap((storefront, country) =>
    Array.from({ length: 102 }, (_, week) => {
      const purchaseId = `store_b:${country}-${week}`;
      const firstPaidAt = firstWeek + week * 7 * dayMs;
      const { purchase } = createObservation({ purchaseId, platform: 'store_b', productType: 'paid subscription' });
      const transaction: Transaction = createTransaction(purchase, {
        purchaseDate: paidAt,
        expirationDate: paidAt + 31 * dayMs,
        storefront,
        storeProceedsMicros: 3_000_000,
        partialRefunds: [{ id: 'refund', date: paidAt, amountMicros: 1_000_000 }],
      });
      const figures = {
        share: 8_500,
        isByCell: true,
        end: paidAt + 31 * dayMs,
        previous: { end: paidAt },
        firstPaidAt,
        customerSince: firstPaidAt,
      };
      return { ...transactionKey(appName, purchaseId, transaction.transactionId), transaction, figures };
    }),
  );

it('figures by country count 33 countries with subscriptions of two years', async () => {
  const table = await createTestTable();
  const keys = await givenApp(table);
  const service = createAggregationDeps(table);
  const records = buildRenewals(keys.appName).map((after, position) =>
    buildStreamRecord({ after: after as Record<string, unknown> }, position),
  );
  await aggregateStreamRecords(service, records, 'shard');
  expect(service.sentFailures).toEqual([]);
  const query = { startdate: '2025-01-01', enddate: '2025-12-31', by: 'country' };
  const { body } = await callWithSecretKey(getRetention, keys, { query });
  const listPaid = ({ cohorts }: { readonly cohorts: readonly RetentionCohort[] }) =>
    cohorts.map(({ periods }) => periods.some(({ revenueUSD }) => revenueUSD > 0));
  expect(body.groups.map(listPaid)).toEqual(Array(33).fill(Array(12).fill(true)));
});
