import { describe, expect, it, jest } from '@jest/globals';
import type { DueItem } from '../../../lib/refresh/due-item-repository.ts';
import { enqueueDueItems } from '../../../lib/refresh/enqueue-due-items.ts';
import type { PurchaseMessage } from '../../../lib/refresh/refresh-message.ts';
import { hourMs } from '../../../lib/shared/time.ts';

interface EnqueuedRefresh extends PurchaseMessage {
  readonly delaySeconds: number;
}

/** Runs the worker once over items that have been due for `latenessMs`, and returns the enqueued refreshes. */
async function enqueue(dueItems: readonly DueItem[], latenessMs = 0): Promise<EnqueuedRefresh[]> {
  const due = dueItems.map((item) => ({ ...item, dueAt: -latenessMs }));
  const enqueued: EnqueuedRefresh[] = [];
  await enqueueDueItems(
    {
      maxLatenessMs: hourMs,
      now: () => 0,
      dueItems: {
        lease: async (_now, limit) => due.splice(0, limit),
        listOverdueRefreshes: async () => ({ dueTimes: [], isComplete: true }),
      },
      grants: { announceEnd: async () => {} },
      refreshQueue: {
        async send(messages, { delaySeconds = 0 } = {}) {
          for (const message of messages) if ('purchaseId' in message) enqueued.push({ ...message, delaySeconds });
        },
      },
      webhookQueue: { send: async () => {} },
    },
    () => 60_000,
  );
  return enqueued;
}

const createRefreshes = (count: number, prefix: string, isIntervalCheck: boolean): DueItem[] =>
  Array.from({ length: count }, (_, number) => ({
    kind: 'purchase',
    appName: 'shop',
    purchaseId: `${prefix}${number}`,
    isIntervalCheck,
  }));

const countByStore = (enqueued: readonly EnqueuedRefresh[], store: string): number =>
  enqueued.filter(({ purchaseId }) => purchaseId.startsWith(store)).length;

describe('enqueueDueItems', () => {
  it.each([
    [hourMs, 0],
    [hourMs + 1, 1],
  ])('logs once if items were due for more than an hour (%i ms: %i lines)', async (latenessMs, lines) => {
    const log = jest.spyOn(console, 'error').mockImplementation(() => {});
    await enqueue(createRefreshes(1_000, 'store_a:', false), latenessMs);
    const logged = log.mock.calls.map(([entry]) => entry);
    log.mockRestore();
    expect(logged).toEqual(Array(lines).fill(expect.objectContaining({ problem: 'DueItemsLate', app: 'shop' })));
  });

  it('enqueues at most 25 refreshes a second of an app at each store', async () => {
    const enqueued = await enqueue([
      ...createRefreshes(4_000, 'store_a:', false),
      ...createRefreshes(10, 'store_b:', false),
    ]);
    expect([countByStore(enqueued, 'store_a:'), countByStore(enqueued, 'store_b:')]).toEqual([1_500, 10]);
    for (let second = 0; second < 60; second++) {
      const inSecond = enqueued.filter(({ delaySeconds }) => delaySeconds === second);
      expect(countByStore(inSecond, 'store_a:')).toBe(25);
    }
  });

  it('enqueues renewals before interval checks, and all renewals although more interval checks are due', async () => {
    const enqueued = await enqueue([
      ...createRefreshes(300, 'store_a:check', true),
      ...createRefreshes(25, 'store_a:renewal', false),
      ...createRefreshes(4_000, 'store_a:later', true),
      ...createRefreshes(700, 'store_a:renewal', false),
    ]);
    expect(enqueued.filter(({ delaySeconds }) => delaySeconds === 0).map(({ purchaseId }) => purchaseId)).toEqual(
      createRefreshes(25, 'store_a:renewal', false).map((item) => item.kind === 'purchase' && item.purchaseId),
    );
    expect(countByStore(enqueued, 'store_a:renewal')).toBe(725);
  });
});
