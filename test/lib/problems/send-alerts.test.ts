import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { App } from '../../../lib/apps/app.ts';
import { findApp, storeWebhook, updateApp } from '../../../lib/apps/app-table.ts';
import { tableVersionKey } from '../../../lib/foundation/keys.ts';
import type { PostOutcome, WebhookRequest } from '../../../lib/foundation/outgoing/post-webhook.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { minuteMs } from '../../../lib/foundation/time.ts';
import { listProblems } from '../../../lib/problems/list-problems.ts';
import { buildAlert, sendAlerts } from '../../../lib/problems/send-alerts.ts';
import { setAlertUrl } from '../../../lib/problems/set-alert-url.ts';
import { buildDelivery } from '../../../lib/webhooks/delivery.ts';
import {
  createDeliveryIfAbsent,
  noFailure,
  replaceDelivery,
  saveUrlHealth,
} from '../../../lib/webhooks/delivery-table.ts';
import { createService } from '../../../testing/create-service.ts';
import { createUniqueName, startDate } from '../../../testing/given.ts';
import { givenApp } from '../../../testing/given-app.ts';
import { createTestTable } from '../../../testing/table.ts';

const alertUrl = 'https://hooks.example.com/services/T000/B000/4cretAlertToken';
const reason = 'The server responded with 500.';
const settings = { urls: ['https://app.example/hook?token=4cret'], sandboxUrls: [], includesPassword: false };

/** An app with an alert URL and a dead webhook of a customer, and the runs of the worker at a time of the test. */
async function givenDeadWebhook() {
  // The worker reads all apps of a table.
  const table = await createTestTable(createUniqueName('alerts'));
  // On a busy machine, reads are slow.
  const service = createService(table, { emulator: { roots: [], timeFactor: 20 } });

  const { appName } = await givenApp(table);
  await setAlertUrl(service, appName, alertUrl);
  await storeWebhook(service, appName, { settings, createSecret: () => 'whsec_4cret' });
  const notification = { id: 'n-1', reason: 'RENEWED', date: startDate } as const;
  const [url = ''] = settings.urls;
  const delivery = buildDelivery({
    appName,
    type: 'purchases.updated',
    url,
    username: 'secret-customer',
    notification,
    createdAt: startDate,
  });
  const dead = {
    ...delivery,
    state: 'dead',
    failedAttempts: 10,
    failureReason: reason,
    lastAttemptAt: startDate,
  } as const;
  await createDeliveryIfAbsent(service, delivery);
  await replaceDelivery(service, delivery, dead, startDate);
  await saveUrlHealth(service, appName, url, { failingSince: startDate - minuteMs, failureReason: reason });
  const requests: WebhookRequest[] = [];
  let outcome: PostOutcome = { status: 200, bodyExcerpt: 'ok' };
  const run = async (now: number, change: Partial<App> = {}): Promise<string[]> => {
    await updateApp(service, appName, () => ({ members: change }));
    requests.length = 0;
    await sendAlerts({
      ...service,
      now: () => now,
      postWebhook: async (request) => {
        requests.push(request);
        return outcome;
      },
    });
    return requests.flatMap(({ body }) =>
      String(JSON.parse(body).text).replaceAll(appName, 'shop').split('\n').slice(1),
    );
  };
  const solve = async () => {
    await replaceDelivery(service, dead, { ...dead, state: 'delivered' }, startDate);
    await saveUrlHealth(service, appName, url, noFailure);
  };
  const respond = (next: PostOutcome) => {
    outcome = next;
  };
  return { appName, service, requests, respond, run, solve };
}

const urlCure =
  'Start or correct the server of the app, or its URL with `app set-webhook shop`. Then run `app test-webhook shop` and `webhooks replay shop --failed`.';
const deadCure = 'Run `webhooks replay shop --dead` after the server works.';

const started = [
  `🔴 Every webhook to https://app.example/hook fails, the first one 1 minute ago: ${reason} ${urlCure}`,
  `🔴 Webhooks without further attempts: 1, the oldest created now. The app's server has not received them. ${deadCure}`,
  '🟠 No store is connected.',
];

describe('sendAlerts', () => {
  it('sends the start of each problem once, the worst first, without customers and credentials', async () => {
    const { appName, requests, run } = await givenDeadWebhook();
    expect(await run(startDate)).toEqual(started);
    expect(requests).toMatchObject([{ url: alertUrl, headers: { 'content-type': 'application/json' } }]);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      text: expect.stringContaining(`*Claimcheck, app ${appName}*\n`),
    });
    expect(requests[0]?.body).not.toMatch(/secret-customer|4cret/);
    expect(await run(startDate + 5 * minuteMs)).toEqual([]);
  });

  it('sends the end of a problem once', async () => {
    const { run, solve } = await givenDeadWebhook();
    await run(startDate);
    await solve();
    expect(await run(startDate + 5 * minuteMs)).toEqual([]);
    expect(await run(startDate + 15 * minuteMs)).toEqual([
      expect.stringMatching(/^✅ Ended, reported 15 minutes ago: Every webhook /),
      expect.stringMatching(/^✅ Ended, reported 15 minutes ago: Webhooks without further attempts: 1/),
    ]);
    expect(await run(startDate + 20 * minuteMs)).toEqual([]);
  });

  it.each([
    { status: 500, bodyExcerpt: '' },
    { failure: 'forbidden', message: 'The webhook URL has an address that is not public.' } as const,
  ])('repeats an alert that fails with the next run (%j)', async (outcome) => {
    const { respond, run } = await givenDeadWebhook();
    respond(outcome);
    expect(await run(startDate)).toEqual(started);
    respond({ status: 204, bodyExcerpt: '' });
    expect(await run(startDate)).toEqual(started);
    expect(await run(startDate)).toEqual([]);
  });

  it('sends the current problems to a new URL, and nothing for a deleted app or without a URL', async () => {
    const { run } = await givenDeadWebhook();
    await run(startDate);
    expect(await run(startDate, { alertUrl: `${alertUrl}/2` })).toEqual(started);
    expect(await run(startDate, { alertUrl: '' })).toEqual([]);
    expect(await run(startDate, { alertUrl: `${alertUrl}/3`, deletedAt: startDate })).toEqual([]);
  });

  it('reports a schedule that has never run', async () => {
    const { run } = await givenDeadWebhook();
    const listLate = async (minutes: number) =>
      (await run(startDate + minutes * minuteMs, { createdAt: startDate })).filter((line) => line.includes('late'));
    expect(await listLate(2)).toEqual([]);
    expect(await listLate(4)).toEqual([
      expect.stringMatching(/^🟠 Figures, .+ until 4 minutes ago\. Check the schedule of `enqueue-due-items`/),
    ]);
  });

  it('rejects an alert URL that is not public', async () => {
    const { appName, service } = await givenDeadWebhook();
    for (const url of ['http://hooks.example.com', 'https://169.254.169.254/x', 'https://127.0.0.1/x', 'text'])
      await expect(setAlertUrl(service, appName, url)).rejects.toMatchObject({ code: 'InvalidPayload' });
    expect((await findApp(service, appName))?.alertUrl).toBe(alertUrl);
  });
});

describe('listProblems', () => {
  it('reports changes that are not processed, with the command that names them', async () => {
    const { service, appName } = await givenDeadWebhook();
    const app = (await findApp(service, appName)) as App;
    const problems = await listProblems({ ...service, countStreamFailures: async () => 1 }, app);
    expect(problems.find(({ id }) => id === 'stream-failures')?.text).toMatch(
      /^Changes that are not processed: 1\. .+ run `webhooks stream-failures list`/,
    );
  });

  it.each([
    [[0, 320, 320], false],
    [[320, 320, 0], false],
    [[320, 320, 320], true],
  ])('reports the table if each of its reads takes %j ms: %p', async (delays, isReported) => {
    const { service, appName } = await givenDeadWebhook();
    const app = (await findApp(service, appName)) as App;
    let reads = 0;
    const get: Table['get'] = async (key) => {
      if (key.pk !== tableVersionKey().pk) return await service.table.get(key);
      // Not a read of the table, which can be slow on a busy machine.
      await sleep(delays[reads++]);
      return undefined;
    };
    const slowService = { ...service, emulator: { roots: [] }, table: { ...service.table, get } };
    const problems = await listProblems(slowService, app);
    expect(problems.some(({ id, tone }) => id === 'slow-table' && tone === 'bad')).toBe(isReported);
  });
});

describe('buildAlert', () => {
  it('escapes the characters with which Slack marks links and mentions', () => {
    const started = [
      { id: 'store store_a', tone: 'warn', text: 'The store said <!channel> & <https://evil.example>.' },
    ] as const;
    const { text } = JSON.parse(buildAlert('demo', { started, ended: [], announced: [] }, 0));
    expect(text).toBe('*Claimcheck, app demo*\n🟠 The store said &lt;!channel&gt; &amp; &lt;https://evil.example&gt;.');
  });
});
