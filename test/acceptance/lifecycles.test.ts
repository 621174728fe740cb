import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { deps } from '../../lib/deps.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { expectAnnouncedOnce } from '../../testing/expect-announced-once.ts';
import { loadPurchases } from '../../testing/load-purchases.ts';
import { type NotificationRouter, startNotificationRouter } from '../../testing/notification-router.ts';
import {
  arbitraryStoreHistories,
  historyPlatforms,
  type StoreHistories,
  startHistory,
} from '../../testing/random-store-histories.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let tellings: NotificationRouter;
beforeAll(async () => {
  service = await startTestService();
  tellings = await startNotificationRouter(service, historyPlatforms);
});
afterAll(async () => {
  await tellings.close();
  await service.close();
});

/** `LIVES=500` tries what a release should have seen; every run tries enough to find what is broken often. */
const lives = Number(process.env.LIVES ?? 100);
const livesAtOnce = 50;

describe('a life of a subscription', () => {
  it('ends in one state and is told once, whether notifications come at once or late, twice and in any order', async () => {
    const property = fc.asyncProperty(arbitraryStoreHistories(livesAtOnce), async (lives) => {
      const [punctual, late] = [await service.createApp(historyPlatforms), await service.createApp(historyPlatforms)];
      const end = await liveThrough(lives, punctual, late);
      await takeInLate(late);
      const apps = [punctual.appName, late.appName];
      await Promise.all(apps.map(refreshAll));
      expect(await loadPurchases(late.appName)).toEqual(await loadPurchases(punctual.appName));
      for (const one of apps) expectAnnouncedOnce(changesOf(one), deps().now());
      await end();
    });
    // What each batch leaves behind goes on in the next ones, so the lives of one cannot be tried again.
    await fc.assert(property, { numRuns: lives / livesAtOnce, seed: 20, endOnFailure: true });
  }, 1_800_000);
});

const changesOf = (name: string) =>
  tellings.written.filter(({ appName }) => appName === name).map(({ change }) => change);

/** Lives the lives, of which the punctual application hears at once; returns what ends them. */
async function liveThrough({ lives, moves }: StoreHistories, punctual: IssuedApiKeys, late: IssuedApiKeys) {
  const apps = [punctual, late];
  tellings.routeTo(apps.map(({ appName }) => appName));
  const living = await Promise.all(lives.map((life) => startHistory(life, service)));
  await takeInAtOnce(punctual);
  await Promise.all(living.map((one) => one.validate('first', apps)));
  for (const [round, move] of moves.entries()) {
    await Promise.all(living.map((one) => one.act(round)));
    await takeInAtOnce(punctual);
    await service.callControl('/clock', { advance: move });
    await takeInAtOnce(punctual);
  }
  await Promise.all(living.map((one) => one.validate('last', apps)));
  tellings.routeTo([]);
  return async () => void (await Promise.all(living.map((one) => one.end())));
}

async function takeInAtOnce({ appName }: IssuedApiKeys): Promise<void> {
  await tellings.waitUntilPosted();
  const messages = tellings.take(appName);
  const ofEach = historyPlatforms.map((platform) => messages.filter((message) => message.platform === platform));
  await Promise.all(ofEach.map(tellings.process));
}

const workers = 4;

/** Takes in twice all that was told, in any order, by several workers at the same time. */
async function takeInLate({ appName }: IssuedApiKeys): Promise<void> {
  const messages = tellings.take(appName);
  expect(messages.length).toBeGreaterThan(livesAtOnce);
  const shuffled = [...messages, ...messages].map((message) => ({ message, place: Math.random() }));
  const inAnyOrder = shuffled.sort((a, b) => a.place - b.place).map(({ message }) => message);
  const shares = Array.from({ length: workers }, (_, worker) =>
    inAnyOrder.filter((_message, index) => index % workers === worker),
  );
  await Promise.all(shares.map(tellings.process));
}

/** What a store changes without telling, as store_b does with refunds, is found by asking it. */
async function refreshAll(appName: string): Promise<void> {
  for (const purchaseId of (await loadPurchases(appName)).keys())
    await refreshPurchase({ appName, purchaseId }, deps());
}
