import { describe, expect, it } from '@jest/globals';
import { customerKey } from '../../../lib/foundation/keys.ts';
import { hourMs } from '../../../lib/foundation/time.ts';
import { recordPurchase } from '../../../lib/purchases/record-purchase.ts';
import { readRefundRequests } from '../../../lib/refunds/answer-refund-request.ts';
import type { RefundRequest } from '../../../lib/refunds/refund-request.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { buildValidationInput } from '../../../testing/purchase-inputs.ts';
import { createTestTable } from '../../../testing/table.ts';

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

/** Customers with their payments, and the customers of later reads. */
async function givenCustomers() {
  const appName = createUniqueName();
  const table = await createTestTable();
  for (const [purchaseId, username] of Object.entries(owners)) {
    const observation = createObservation({ purchaseId, transactionId: purchaseId, productId: 'store_a:coins' });
    await recordPurchase(createService(table), appName, purchaseId, buildValidationInput(username, observation));
  }
  const reads: string[] = [];
  const names = new Map(['ann', 'bob'].map((username) => [customerKey.partition(appName, username), username]));
  const service = createService({
    ...table,
    async get(key) {
      if (names.has(key.pk)) reads.push(`consent of ${names.get(key.pk)}`);
      return await table.get(key);
    },
    async query(range) {
      if (names.has(range.partition)) reads.push(`transactions of ${names.get(range.partition)}`);
      return await table.query(range);
    },
  });
  return { appName, service, reads };
}

describe('readRefundRequests', () => {
  it('reads the payments of a customer once for all requests of a page', async () => {
    const { appName, service, reads } = await givenCustomers();
    const records = await readRefundRequests(service, appName, Object.keys(owners).map(toRequest));
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
