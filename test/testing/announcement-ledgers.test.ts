import { describe, expect, it } from '@jest/globals';
import type { WebhookDelivery } from '../../lib/webhooks/delivery.ts';
import { startAnnouncementLedgers } from '../../testing/announcement-ledgers.ts';
import type { PurchaseSummary } from '../../testing/purchase-summary.ts';
import type { OwnedPurchase } from '../../testing/random-ownership-histories.ts';

const summary = { id: 'token', productId: 'premium', applicationUsername: 'alice', latestSuccessfulOrderId: 'order 1' };

/** Compares intervals, each with the members of the purchase that change and the announcements by purchase id. */
async function compareIntervals(intervals: readonly (readonly [changes: object, ...announced: string[]])[]) {
  let current: PurchaseSummary = summary;
  const purchase = {
    platform: 'store_b',
    username: 'alice',
    listSummaries: async () => [current],
    countReversals: () => 0,
    describe: () => ({}),
  } as unknown as OwnedPurchase;
  const ledgers = startAnnouncementLedgers([purchase], (_purchase, { productId }) => new Map([[productId, true]]));
  const problems: string[] = [];
  for (const [index, [changes, ...announced]] of intervals.entries()) {
    await ledgers.readStores();
    current = { ...summary, ...changes };
    const webhooks = announced.map((text) => {
      const [purchaseId, reason] = text.split(' ');
      return { deliveryId: `${index} ${text}`, username: 'alice', notification: { purchaseId, reason } };
    });
    const found = await ledgers.compare(webhooks as unknown as readonly WebhookDelivery[]);
    problems.push(...found.map(({ problem }) => problem));
  }
  return problems;
}

describe('startAnnouncementLedgers', () => {
  const deferred = { productId: 'basic', latestSuccessfulOrderId: 'order 2' };

  it.each([
    ['store_b:token:basic PLAN_CHANGED', []],
    ['store_b:token:other PLAN_CHANGED', ['announcements of store_b: payments: 0 instead of 1']],
  ])('counts the start of a deferred plan change by the id of its item: %s', async (announced, problems) => {
    expect(
      await compareIntervals([
        [{}, 'store_b:token PURCHASED'],
        [deferred, announced],
      ]),
    ).toEqual(problems);
  });

  it('leaves out the other items of the first product', async () => {
    const renewed = { latestSuccessfulOrderId: 'order 2' };
    const intervals = [
      [{}, 'store_b:token PURCHASED'],
      [renewed, 'store_b:token:premium RENEWED'],
    ] as const;
    expect(await compareIntervals(intervals)).toEqual(['announcements of store_b: payments: 0 instead of 1']);
  });
});
