import { describe, expect, it } from '@jest/globals';
import type { Key } from '../../../lib/foundation/keys.ts';
import type { Transaction } from '../../../lib/purchases/transaction.ts';
import { type RefundService, readRefundRequests } from '../../../lib/refunds/answer-refund-request.ts';
import type { RefundRequest } from '../../../lib/refunds/refund-request.ts';
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

/** A service in which each customer has one payment, with the customers of the reads. */
function createCountedService() {
  const reads: string[] = [];
  const toTransaction = (purchaseId: string): Transaction => ({
    transactionId: purchaseId,
    purchaseId,
    productId: 'store_a:coins',
    platform: 'store_a',
    sandbox: false,
    purchaseDate: startDate,
  });
  const service = {
    now: () => startDate,
    table: {
      async get({ pk }: Key) {
        reads.push(`consent of ${pk.split('#').at(-1)}`);
        return undefined;
      },
    },
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
  };
  return { service: service as object as RefundService, reads };
}

describe('readRefundRequests', () => {
  it('reads the payments of a customer once for all requests of a page', async () => {
    const { service, reads } = createCountedService();
    const records = await readRefundRequests(service, 'demo', Object.keys(owners).map(toRequest));
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
