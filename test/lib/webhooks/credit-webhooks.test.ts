import { describe, expect, it } from '@jest/globals';
import type { WebhookEvent } from '../../../lib/api/schemas.ts';
import { give, take } from '../../../lib/credits/change-credits.ts';
import { endCredits } from '../../../lib/credits/credit-table.ts';
import { mergeCustomers } from '../../../lib/customer-data/merge-customers.ts';
import { listCustomerTimeline } from '../../../lib/events/timeline-table.ts';
import { toTimelineRecord } from '../../../lib/events/to-timeline-record.ts';
import { creditEntryKey } from '../../../lib/foundation/keys.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import { saveWebhook } from '../../../lib/webhooks/manage-webhooks.ts';
import { buildStreamRecord } from '../../../testing/stream-records.ts';
import { createWebhookHarness, type WebhookHarness } from '../../../testing/webhook-harness.ts';
import { useApplicationServer } from './application-server-fixture.ts';

const getServer = useApplicationServer();

async function givenHarness(events: WebhookEvent[]): Promise<WebhookHarness> {
  const harness = await createWebhookHarness({ urls: [getServer().url] });
  const { url } = getServer();
  const settings = { urls: [url], sandboxUrls: [`${url}/sandbox`], includesPassword: false, events };
  await saveWebhook(harness.service, harness.keys.appName, settings, { newSecret: false });
  return harness;
}

const key = { id: 'key', name: 'alice' };
const toContext = ({ keys: { appName } }: WebhookHarness, isSandbox = false) => ({
  appName,
  username: 'ann',
  isSandbox,
  key,
});
const coins = (amount: number, idempotencyKey: string) => ({ credit: 'coins', amount, idempotencyKey, reason: 'why' });

/** Reads the entries of the customer as the stream does, and sends their webhooks. */
async function sendWebhooks(harness: WebhookHarness, account = 'P', username = 'ann') {
  const { service, keys } = harness;
  const { pk, sk } = creditEntryKey(keys.appName, username, account, '');
  const items = (await service.table.query({ partition: pk })).filter((item) => String(item.sk).startsWith(sk));
  await harness.fanOut(items.map((after, index) => buildStreamRecord({ after }, index)));
  await harness.workUntil(harness.now);
  return getServer().requests.map(({ body }) => JSON.parse(body));
}

describe('credits.updated', () => {
  it('contains the change and the credits, for an app that has switched it on', async () => {
    const harness = await givenHarness(['credits']);
    await give(harness.service, coins(10, 'a'), toContext(harness));
    await take(harness.service, coins(4, 'b'), toContext(harness));
    const bodies = await sendWebhooks(harness);
    expect(bodies.map(({ creditEntry }) => [creditEntry.type, creditEntry.amount]).sort()).toEqual([
      ['given', 10],
      ['taken', 4],
    ]);
    expect(bodies[0]).toEqual({
      type: 'credits.updated',
      creditEntry: expect.objectContaining({ credit: 'coins', reason: 'why', key: { id: 'key', name: 'alice' } }),
      isSandbox: false,
      credits: { coins: { balance: 6, granted: 10, spent: 0, takenBack: 4, expired: 0 } },
      applicationUsername: 'ann',
    });
    const page = { limit: 50, cursor: undefined };
    const { rows } = await listCustomerTimeline(harness.service, harness.keys.appName, 'ann', page);
    expect(rows.map(toTimelineRecord)).toContainEqual(
      expect.objectContaining({
        reasons: ['OTHER'],
        notificationType: 'credits.updated',
        deliveryId: expect.any(String),
      }),
    );
  });

  it.each<[string, WebhookEvent[], boolean, string[]]>([
    ['one webhook for a repeated record', ['credits'], false, ['/']],
    ['the credits of the sandbox to the sandbox URL', ['credits'], true, ['/sandbox']],
    ['nothing unless it is on', ['refunds'], false, []],
  ])('sends %s', async (_what, events, isSandbox, paths) => {
    const harness = await givenHarness(events);
    await give(harness.service, coins(10, 'a'), toContext(harness, isSandbox));
    const account = isSandbox ? 'S' : 'P';
    await sendWebhooks(harness, account);
    expect(await sendWebhooks(harness, account)).toMatchObject(
      paths.map(() => ({ isSandbox, credits: { coins: { balance: 10 } } })),
    );
    expect(getServer().requests.map(({ path }) => path)).toEqual(paths);
  });

  it('names the units that ended', async () => {
    const harness = await givenHarness(['credits']);
    const until = harness.now + dayMs;
    await give(harness.service, { ...coins(10, 'a'), until }, toContext(harness));
    harness.now += 2 * dayMs;
    await endCredits(harness.service, { ...toContext(harness), account: 'P' });
    const { creditEntry } = (await sendWebhooks(harness)).find((body) => body.creditEntry.type === 'expired');
    expect(creditEntry).toMatchObject({ amount: 10, balance: 0, at: new Date(until).toISOString() });
  });

  it('sends a gift under a merged name as a change of the customer that it was merged into', async () => {
    const harness = await givenHarness(['credits']);
    const { service, keys } = harness;
    await mergeCustomers(service, { name: keys.appName, strategy: 'last' }, { from: 'guest', to: 'ann', key });
    await give(service, coins(10, 'a'), { ...toContext(harness), username: 'guest' });
    expect([await sendWebhooks(harness, 'P', 'guest'), await sendWebhooks(harness)]).toEqual([
      [],
      [expect.objectContaining({ applicationUsername: 'ann', credits: { coins: expect.anything() } })],
    ]);
  });

  it('sends nothing for a customer who was erased since', async () => {
    const harness = await givenHarness(['credits']);
    const entry = await give(harness.service, coins(10, 'a'), toContext(harness));
    const key = creditEntryKey(harness.keys.appName, 'ann', 'P', entry.entryId);
    await harness.service.table.batchDelete([key]);
    await harness.fanOut([buildStreamRecord({ after: { ...key, ...entry } }, 1)]);
    expect(harness.queue).toEqual([]);
  });
});
