import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { IssuedKeys } from '../../lib/apps/operator.ts';
import { deps } from '../../lib/deps.ts';
import { refreshPurchase } from '../../lib/refresh/refresh.ts';
import { appItems } from '../support/app-items.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { born, type Lives, livedOn, livesOf } from '../support/store-lives.ts';
import { expectToldOnce } from '../support/told-once.ts';
import { startTellings, type Tellings } from '../support/two-tellings.ts';

let service: TestService;
let tellings: Tellings;
beforeAll(async () => {
  service = await startTestService();
  tellings = await startTellings(service, livedOn);
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
    const property = fc.asyncProperty(livesOf(livesAtOnce), async (lives) => {
      const [punctual, late] = [await service.app(livedOn), await service.app(livedOn)];
      const end = await liveThrough(lives, punctual, late);
      await takeInLate(late);
      const apps = [punctual.app, late.app];
      await Promise.all(apps.map(refreshAll));
      expect(await appItems(late.app)).toEqual(await appItems(punctual.app));
      for (const one of apps) expectToldOnce(changesOf(one), deps().now());
      await end();
    });
    // What each batch leaves behind goes on in the next ones, so the lives of one cannot be tried again.
    await fc.assert(property, { numRuns: lives / livesAtOnce, seed: 20, endOnFailure: true });
  }, 1_800_000);
});

const changesOf = (name: string) => tellings.written.filter(({ app }) => app === name).map(({ change }) => change);

/** Lives the lives, of which the punctual application hears at once; returns what ends them. */
async function liveThrough({ lives, moves }: Lives, punctual: IssuedKeys, late: IssuedKeys) {
  const apps = [punctual, late];
  tellings.tellTo(apps.map(({ app }) => app));
  const living = await Promise.all(lives.map((life) => born(life, service)));
  await takeInAtOnce(punctual);
  await Promise.all(living.map((one) => one.validate('first', apps)));
  for (const [round, move] of moves.entries()) {
    await Promise.all(living.map((one) => one.act(round)));
    await takeInAtOnce(punctual);
    await service.control('/clock', { advance: move });
    await takeInAtOnce(punctual);
  }
  await Promise.all(living.map((one) => one.validate('last', apps)));
  tellings.tellTo([]);
  return async () => void (await Promise.all(living.map((one) => one.end())));
}

async function takeInAtOnce({ app }: IssuedKeys): Promise<void> {
  await tellings.posted();
  const messages = tellings.take(app);
  const ofEach = livedOn.map((platform) => messages.filter((message) => message.platform === platform));
  await Promise.all(ofEach.map(tellings.process));
}

const workers = 4;

/** Takes in twice all that was told, in any order, by several workers at the same time. */
async function takeInLate({ app }: IssuedKeys): Promise<void> {
  const messages = tellings.take(app);
  expect(messages.length).toBeGreaterThan(livesAtOnce);
  const shuffled = [...messages, ...messages].map((message) => ({ message, place: Math.random() }));
  const inAnyOrder = shuffled.sort((a, b) => a.place - b.place).map(({ message }) => message);
  const shares = Array.from({ length: workers }, (_, worker) =>
    inAnyOrder.filter((_message, index) => index % workers === worker),
  );
  await Promise.all(shares.map(tellings.process));
}

/** What a store changes without telling, as store_b does with refunds, is found by asking it. */
async function refreshAll(app: string): Promise<void> {
  for (const purchaseId of (await appItems(app)).keys()) await refreshPurchase({ app, purchaseId }, deps());
}
