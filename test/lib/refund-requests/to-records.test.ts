import { describe, expect, it } from '@jest/globals';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import type { RefundRequest } from '../../../lib/refund-requests/refund-request-repository.ts';
import { buildRefundRequestRecords } from '../../../lib/refund-requests/to-records.ts';
import { hourMs } from '../../../lib/shared/time.ts';
import { createObservation, startDate } from '../../../testing/given.ts';

const owners: Readonly<Record<string, string>> = { 'store_a:1': 'ann', 'store_a:2': 'ann', 'store_a:3': 'bob' };

const toRequest = (purchaseId: string): RefundRequest => ({
  requestId: `refund_${purchaseId}`,
  platform: 'store_a',
  purchaseId,
  transactionId: purchaseId,
  sandbox: false,
  reference: {},
  reason: 'OTHER',
  requestedAt: startDate,
  deadline: startDate + 12 * hourMs,
  version: 1,
});

/** Dependencies in which each customer has one payment, with the customers of the reads. */
function createCountedDeps() {
  const reads: string[] = [];
  const toTransaction = (purchaseId: string): Transaction => ({
    transactionId: purchaseId,
    purchaseId,
    productId: 'store_a:coins',
    platform: 'store_a',
    sandbox: false,
    purchaseDate: startDate,
  });
  const deps = {
    ownedPurchases: {
      async listTransactions(_appName: string, username: string) {
        reads.push(`transactions of ${username}`);
        return Object.keys(owners)
          .filter((id) => owners[id] === username)
          .map(toTransaction);
      },
    },
    purchases: {
      async find(_appName: string, purchaseId: string) {
        const { purchase } = createObservation({ purchaseId, productId: 'store_a:coins' });
        return { purchase, entitledUsers: [owners[purchaseId] ?? ''], asOf: startDate };
      },
      listTransactions: async (_appName: string, ids: readonly string[]) => ids.map(toTransaction),
    },
    refundRequests: {
      async findConsent(_appName: string, username: string) {
        reads.push(`consent of ${username}`);
        return undefined;
      },
    },
  };
  return { deps, reads };
}

describe('buildRefundRequestRecords', () => {
  it('reads the payments of a customer once for all requests of a page', async () => {
    const { deps, reads } = createCountedDeps();
    const context = { now: startDate, deps };
    const records = await buildRefundRequestRecords('demo', Object.keys(owners).map(toRequest), context);
    expect(
      records.map(({ purchaseId, applicationUsername, facts }) => [
        purchaseId,
        applicationUsername,
        facts.purchaseCount,
      ]),
    ).toEqual([
      ['store_a:1', 'ann', 2],
      ['store_a:2', 'ann', 2],
      ['store_a:3', 'bob', 1],
    ]);
    expect(reads.toSorted()).toEqual([
      'consent of ann',
      'consent of bob',
      'transactions of ann',
      'transactions of bob',
    ]);
  });
});
