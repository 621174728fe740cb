import { describe, expect, it } from '@jest/globals';
import { createEventRecorder } from '../../../lib/events/event-recorder.ts';
import { customerKey, purchaseKey } from '../../../lib/foundation/keys.ts';
import { hourMs } from '../../../lib/foundation/time.ts';
import { readRefundRequests, submitAnswer } from '../../../lib/refunds/answer-refund-request.ts';
import { recordRefundRequest } from '../../../lib/refunds/record-refund-request.ts';
import type { RefundRequest } from '../../../lib/refunds/refund-request.ts';
import type { StoreRefundRequest } from '../../../lib/stores/refund-request.ts';
import { createService } from '../../../testing/create-service.ts';
import { createObservation, createUniqueName, startDate } from '../../../testing/given.ts';
import { recordObservation } from '../../../testing/purchase-inputs.ts';
import { createTestTable } from '../../../testing/table.ts';

const owners: Readonly<Record<string, string>> = { 'store_a:1': 'ann', 'store_a:2': 'ann', 'store_a:3': 'bob' };

const toStoreRequest = (purchaseId: string): StoreRefundRequest => ({
  platform: 'store_a',
  purchaseId,
  transactionId: purchaseId,
  sandbox: false,
  reference: {},
  reason: 'OTHER',
  requestedAt: startDate,
  deadline: startDate + 12 * hourMs,
});

const toRequest = (purchaseId: string): RefundRequest => ({
  ...toStoreRequest(purchaseId),
  requestId: `refund_${purchaseId}`,
  version: 1,
});

/** Customers with their payments, and the customers of later reads. */
async function givenCustomers() {
  const appName = createUniqueName();
  const table = await createTestTable();
  for (const [purchaseId, username] of Object.entries(owners)) {
    const observation = createObservation({ purchaseId, transactionId: purchaseId, productId: 'store_a:coins' });
    await recordObservation(createService(table), appName, { username, observation });
  }
  const reads: string[] = [];
  const names = new Map(['ann', 'bob'].map((username) => [customerKey.partition(appName, username), username]));
  const purchases = new Set(Object.keys(owners).map((purchaseId) => purchaseKey(appName, purchaseId).pk));
  const service = createService({
    ...table,
    async get(key) {
      if (names.has(key.pk)) reads.push(`consent of ${names.get(key.pk)}`);
      if (purchases.has(key.pk)) reads.push('purchase');
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
    expect(reads.filter((read) => read !== 'purchase').toSorted()).toEqual([
      'consent of ann',
      'consent of bob',
      'transactions of ann',
      'transactions of bob',
    ]);
  });

  it('counts neither the sandbox nor pending payments as payments of the customer', async () => {
    const { appName, service } = await givenCustomers();
    const others = [
      createObservation({ purchaseId: 'store_a:4', transactionId: 'store_a:4', sandbox: true, purchaseDate: 1 }),
      createObservation({ purchaseId: 'store_a:5', transactionId: 'store_a:5', isPending: true, purchaseDate: 2 }),
    ].map((observation) => ({
      ...observation,
      transactions: observation.transactions.map((transaction) => ({
        ...transaction,
        ...(observation.purchase.isPending && { isPending: true as const }),
      })),
    }));
    for (const observation of others) await recordObservation(service, appName, { username: 'bob', observation });
    const [ofSale, ofSandbox] = await readRefundRequests(service, appName, [
      toRequest('store_a:3'),
      toRequest('store_a:4'),
    ]);
    expect(ofSale?.facts).toMatchObject({
      purchaseCount: 1,
      paidUSD: 4.99,
      customerSince: new Date(startDate).toISOString(),
    });
    expect(ofSandbox?.facts).toMatchObject({ purchaseCount: 1, paidUSD: 4.99 });
  });
});

describe('answerRefundRequest', () => {
  it('reads the purchase and its customer once, and nothing for a second statement', async () => {
    const { appName, service, reads } = await givenCustomers();
    const { requestId } = await recordRefundRequest(service, appName, toStoreRequest('store_a:1'));
    const answer = async () => {
      const recorder = createEventRecorder({ type: 'refund.answered', date: startDate });
      const context = { appName, recorder, author: { type: 'key', id: 'key', name: 'main' } } as const;
      return await submitAnswer(service, requestId, { preference: 'decline', customerConsented: true }, context);
    };
    reads.length = 0;
    expect(await answer()).toMatchObject({ applicationUsername: 'ann', answer: { preference: 'decline' } });
    expect(reads.toSorted()).toEqual(['consent of ann', 'purchase', 'transactions of ann']);
    reads.length = 0;
    await expect(answer()).rejects.toMatchObject({ code: 'Conflict', data: { answer: { preference: 'decline' } } });
    expect(reads).toEqual([]);
  });
});
