import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createApiKey, createApp, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { type Platform, platforms } from '../../lib/foundation/platform.ts';
import { hourMs } from '../../lib/foundation/time.ts';
import { findLatestRateDay } from '../../lib/health/health-table.ts';
import { buildDelivery } from '../../lib/webhooks/delivery.ts';
import { createDeliveryIfAbsent, findUrlHealth, replaceDelivery } from '../../lib/webhooks/delivery-table.ts';
import { saveWebhook, sendTestWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { startHttpServer } from '../../local/http-server.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, type Json, waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { runCommand, spawnCommand } from '../../testing/command-line.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { waitFor } from '../../testing/wait-for.ts';

const service = startBeforeAll(startLocalService);
const goneServer = startBeforeAll(
  async () => await startHttpServer((_request, response) => void response.writeHead(410).end()),
);
let queueClient: SQSClient;
beforeAll(async () => {
  // A client without the policy of the operator, who cannot send messages.
  queueClient = new SQSClient({
    useQueueUrlAsEndpoint: false,
    endpoint: process.env.AWS_ENDPOINT_URL_SQS ?? '',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  // The permissions of an operator, which the commands of this process need, too.
  Object.assign(process.env, service.environment);
  // Exchange rates are loaded every six hours.
  await advance('PT7H');
  await waitFor('exchange rates', async () => await findLatestRateDay(getService()));
});
afterEach(async () => {
  await fetch(`${service.emulatorUrl}/control/faults`, { method: 'DELETE' });
  for (const platform of platforms) await put(`/accounts/${platform}`, { problem: null });
});

const control = async (path: string, body?: object): Promise<Json> => await callLocalControl(service, path, body);
const getEmulatedTime = async (): Promise<number> => Date.parse((await control('/clock')).now);
const advance = async (period: string): Promise<void> => {
  await control('/clock', { advance: period });
  await waitUntilQueuesEmpty(service);
};

async function put(path: string, body: object): Promise<void> {
  const init = { method: 'PUT', body: JSON.stringify(body) };
  expect((await fetch(`${service.emulatorUrl}/control${path}`, init)).status).toBe(200);
}

interface Report {
  readonly ok: boolean;
  readonly findings: readonly Json[];
  readonly checks: readonly Json[];
}

/** Runs the command and returns its report with its exit code. The timeout is long, because the machine can be busy. */
/** Findings that depend on the day of the run. */
const datedFindings: readonly string[] = ['commission-rates-old'];

async function doctor(
  appName: string,
  { run = runCommand, timeoutSeconds = 120 } = {},
): Promise<Report & { readonly code: number }> {
  const args = ['--json', 'doctor', appName, '--timeout', String(timeoutSeconds)];
  const { code, out, error } = await run(service.environment, args);
  if (out === '') throw new Error(error);
  const report = JSON.parse(out) as Report;
  return { code, ...report, findings: report.findings.filter((finding) => !datedFindings.includes(finding.code)) };
}

const toNotificationUrl = ({ appName }: IssuedApiKeys, platform: Platform): string =>
  `${service.baseUrl}/v3/webhook/${platform}/${appName}`;

/**
 * Creates an app that is connected to the stores and has a webhook URL. `settings` replace fields of the settings. The
 * `notified` stores post the notifications of all purchases to the app.
 */
async function givenApp(
  settings: Partial<Record<Platform, object>> = {},
  urls: readonly string[] = service.webhooks.urls.slice(0, 1),
  connected: readonly Platform[] = platforms,
  notified: readonly Platform[] = connected,
): Promise<IssuedApiKeys> {
  const keys = await createApp(getService(), createUniqueName(), await getEmulatedTime());
  for (const platform of connected) {
    const valid = await control(`/settings/${platform}`);
    await setStoreSettings(getService(), keys.appName, platform, { ...valid, ...settings[platform] });
  }
  const webhook = { urls: [...urls], sandboxUrls: [], includesPassword: true };
  await saveWebhook(getService(), keys.appName, webhook, { newSecret: false });
  for (const platform of notified)
    if (platform !== 'store_c') await put(`/notifications/${platform}`, { url: toNotificationUrl(keys, platform) });
  return keys;
}

/** Creates an app for the checks that concern no store. */
const givenSmallApp = async (urls?: readonly string[]): Promise<IssuedApiKeys> =>
  await givenApp({}, urls, ['processor_b']);

/** Checks that the command reports this fault, nothing else, and the cure, and ends with exit code 3. */
function expectOnly(report: Awaited<ReturnType<typeof doctor>>, finding: object): void {
  expect(report.findings).toEqual([expect.objectContaining(finding)]);
  expect(report).toMatchObject({ code: 3, ok: false });
  for (const { problem, cure } of report.findings)
    for (const sentence of [problem, cure]) expect(sentence).toMatch(/^\S.*\S.*\.$/s);
}

/** Buys a subscription of the App Store. Validates it for an app, also again, until the store responds in time. */
async function buy({ appName, publicKey }: IssuedApiKeys) {
  // A store rejects a second purchase of a subscription that the user has.
  const applicationUsername = createUniqueName();
  const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', applicationUsername };
  const { id, validate } = await control('/purchases', order);
  const init = { method: 'POST', headers: buildBasicAuth(appName, publicKey), body: JSON.stringify(validate) };
  const validateOnce = async () => (await (await fetch(`${service.baseUrl}/v1/validate`, init)).json()) as Json;
  const validateInTime = async () => void (await waitFor('a validation', validateOnce, ({ ok }) => ok));
  await validateInTime();
  return { id, validate: validateInTime };
}

const getOutput = (name: string): string => JSON.parse(service.environment.STACK_OUTPUTS ?? '')[name];

describe('doctor', () => {
  it('names a store that has never sent a notification, with the URL to configure', async () => {
    await put('/notifications/store_a', { url: null });
    // A purchase of an earlier test can change at any time.
    const notified = platforms.filter((platform) => platform !== 'store_a');
    const keys = await givenApp({}, undefined, platforms, notified);
    const { id, validate } = await buy(keys);
    expectOnly(await doctor(keys.appName), { code: 'notifications-url-missing' });
    await advance('PT1H');
    // A change that the client has reported: the store has not sent its notification, either.
    await control(`/purchases/${id}/cancel`, {});
    await validate();
    const url = `${service.baseUrl}/v3/webhook/store_a/${keys.appName}`;
    expectOnly(await doctor(keys.appName), {
      code: 'notifications-never-received',
      platform: 'store_a',
      cure: expect.stringMatching(new RegExp(`${url}: App Store Connect`)),
    });
    await put('/notifications/store_a', { url });
    await buy(keys);
    await waitFor(
      'a notification',
      async () => await doctor(keys.appName),
      ({ findings }) => findings.every(({ code }) => code !== 'notifications-never-received'),
    );
  });

  it('finds nothing wrong in a healthy service, and names each check that it did not make', async () => {
    const { appName } = await givenApp();
    const { code, ok, findings, checks } = await doctor(appName);
    expect({ code, ok, findings }).toEqual({ code: 0, ok: true, findings: [] });
    const settings = checks.filter(({ name, app }) => name === 'store settings' && app === appName);
    expect(settings.map(({ platform, result }) => [platform, result])).toEqual(platforms.map((name) => [name, 'ok']));
    const skipped = checks.filter(({ result }) => result === 'skipped');
    expect(skipped.map(({ name }) => name).sort()).toEqual([
      'alarm subscription',
      'concurrency quota',
      'event source mappings',
      'table protection',
      'version',
    ]);
    for (const { reason } of skipped) expect(reason).toContain('local service');
  });

  it('tests the way in of each store, and reports what came back and how long it took', async () => {
    const keys = await givenApp();
    const { checks, findings } = await doctor(keys.appName);
    expect(findings).toEqual([]);
    const steps = checks.flatMap(({ platform, steps = [] }) =>
      steps.map(({ name, outcome, durationMs }: Json) => {
        expect(durationMs).toBeGreaterThanOrEqual(0);
        return [platform, name, outcome];
      }),
    );
    const stripe = ['webhook endpoint', 'enabled, API version 2026-10-28.endive, all events'];
    const last = ['last recorded notification', 'none among the latest events'];
    expect(steps).toEqual([
      ['store_a', 'test notification of production', 'SUCCESS'],
      ['store_a', 'test notification of the sandbox', 'SUCCESS'],
      ['store_a', 'recorded by the service', '2 of 2 test notifications'],
      ['store_a', ...last],
      ['store_b', 'push subscription', 'ACTIVE, topic projects/example-app/topics/play-notifications'],
      ['store_b', ...last],
      ['store_c', 'notification URL', 'not needed: the service polls the clawback queue'],
      ['processor_a', ...stripe],
      ['processor_a', ...last],
      ['service_processor_a', ...stripe],
      ['service_processor_a', ...last],
      ['processor_b', 'webhook', expect.stringContaining('no API')],
      ['processor_b', ...last],
    ]);
    const { checks: later } = await doctor(keys.appName);
    const recorded = later
      .find(({ name, platform }) => name === 'notifications' && platform === 'store_a')
      ?.steps.at(-1);
    expect(recorded.outcome).toMatch(/^20\d\d-.*Z, \d+ \w+ ago$/);
  });

  it('names a store without a notification URL, and another server that receives the notifications', async () => {
    const keys = await givenApp();
    await put('/notifications/store_a', { url: null });
    expectOnly(await doctor(keys.appName), {
      code: 'notifications-url-missing',
      problem: 'App Store Connect lacks the notification URL of production and of the sandbox.',
      cure: expect.stringContaining(toNotificationUrl(keys, 'store_a')),
    });
    await put('/notifications/store_a', { url: `${goneServer.url}/notifications` });
    expect((await doctor(keys.appName)).findings).toMatchObject([
      { code: 'notifications-test-failed', problem: expect.stringContaining('UNSUCCESSFUL_HTTP_RESPONSE_CODE') },
      { code: 'notifications-test-failed', problem: expect.stringContaining('sandbox') },
    ]);
    await givenApp();
    // The service waits for a third of the time.
    const report = await doctor(keys.appName, { timeoutSeconds: 30 });
    expect(report.findings.map(({ code, platform }) => [code, platform])).toEqual([
      ['notifications-elsewhere', 'store_a'],
      ['notifications-elsewhere', 'processor_a'],
      ['notifications-elsewhere', 'service_processor_a'],
    ]);
    expect(report).toMatchObject({ ok: true, code: 0 });
  });

  it('reports settings of notifications that the credentials cannot read as such', async () => {
    const { appName } = await givenApp();
    await put('/accounts/store_b', { problem: 'no-pubsub-role' });
    await put('/accounts/processor_a', { problem: 'no-webhook-permission' });
    const { findings, checks } = await doctor(appName);
    expect(findings).toEqual([]);
    const outcomes = checks.flatMap(({ steps = [] }) => steps.map(({ outcome }: Json) => outcome));
    expect(outcomes).toEqual(
      expect.arrayContaining([expect.stringContaining('Pub/Sub Viewer'), expect.stringContaining('Webhook Endpoints')]),
    );
  });

  it('names an app without a webhook URL', async () => {
    const keys = await createApp(getService(), createUniqueName(), await getEmulatedTime());
    const { appName } = keys;
    await setStoreSettings(getService(), appName, 'store_a', await control('/settings/store_a'));
    await put('/notifications/store_a', { url: toNotificationUrl(keys, 'store_a') });
    expectOnly(await doctor(appName), { code: 'webhook-url-missing', cure: expect.stringContaining('set-webhook') });
  });

  it('accepts an app whose webhooks are switched off, with a note', async () => {
    const { appName } = await givenSmallApp([]);
    expect(await doctor(appName)).toMatchObject({ code: 0, ok: true, findings: [{ code: 'webhook-url-off' }] });
  });

  it('names a webhook URL that responded with 410, without its query', async () => {
    const { appName } = await givenSmallApp([`${goneServer.url}/hook?token=secret`]);
    await sendTestWebhook(getService(), appName);
    const findHealth = async () => await findUrlHealth(getService(), appName, `${goneServer.url}/hook?token=secret`);
    await waitFor('410', findHealth, ({ disabledAt }) => disabledAt !== undefined);
    const report = await doctor(appName);
    expectOnly(report, { code: 'webhook-url-disabled', problem: expect.stringContaining(`${goneServer.url}/hook`) });
    expect(JSON.stringify(report)).not.toContain('token=secret');
  });

  it('names a webhook URL that does not respond', async () => {
    const closed = await startHttpServer(() => {});
    await closed.close();
    const { appName } = await givenSmallApp([closed.url]);
    await sendTestWebhook(getService(), appName);
    const findHealth = async () => await findUrlHealth(getService(), appName, closed.url);
    await waitFor('backoff', findHealth, ({ backoffUntil }) => backoffUntil !== undefined);
    expectOnly(await doctor(appName), {
      code: 'webhook-url-unresponsive',
      cure: expect.stringContaining(`webhooks replay ${appName} --failed`),
    });
  });

  it('names dead webhooks with the reason of the last one', async () => {
    const { appName } = await givenSmallApp();
    const createdAt = await getEmulatedTime();
    const notification = { id: createUniqueName('notification'), reason: 'RENEWED', date: createdAt } as const;
    const [url = ''] = service.webhooks.urls;
    const delivery = buildDelivery({ appName, type: 'purchases.updated', url, notification, createdAt });
    await createDeliveryIfAbsent(getService(), delivery);
    const dead = { ...delivery, state: 'dead', failedAttempts: 10, failureReason: 'HTTP 500' } as const;
    await replaceDelivery(getService(), delivery, dead, createdAt);
    expectOnly(await doctor(appName), {
      code: 'webhook-deliveries-dead',
      problem: expect.stringContaining('HTTP 500'),
      cure: expect.stringContaining(`webhooks replay ${appName} --dead`),
    });
  });

  it('names a key that expires soon and a key that has expired', async () => {
    const { appName } = await givenSmallApp();
    const now = await getEmulatedTime();
    const create = async (name: string, validMs: number) =>
      await createApiKey(getService(), appName, { level: 'viewer', name, validMs, now });
    const { id } = await create('support', hourMs);
    expectOnly(await doctor(appName), {
      code: 'api-key-expiring',
      problem: expect.stringContaining(`"support" (${id})`),
    });
    await advance('PT2H');
    expectOnly(await doctor(appName), {
      code: 'api-key-expired',
      cure: expect.stringContaining(`key revoke ${appName} ${id}`),
    });
  });

  it('names an unreadable master key, and each check that requires it as skipped', async () => {
    const { appName } = await givenApp();
    const deleted = { MASTER_KEY_ID: 'arn:aws:secretsmanager:eu-west-1:000000000000:deleted' };
    // Its own process: this one has read the master key.
    const run: typeof runCommand = async (environment, args) =>
      await spawnCommand({ ...environment, ...deleted }, args);
    const report = await doctor(appName, { run });
    expectOnly(report, { code: 'master-key-unreadable', severity: 'error' });
    const skipped = report.checks.filter(({ reason }) => reason === 'it requires the master key');
    expect(new Set(skipped.map(({ name }) => name))).toEqual(new Set(['store settings', 'webhook secrets']));
  });

  it('fails for an unknown app', async () => {
    const { code, out, error } = await runCommand(service.environment, ['--json', 'doctor', 'nobody']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(JSON.parse(error)).toMatchObject({ ok: false, code: 'AppNotFound' });
  });

  // The last test that advances the clock: the hourly recovery of a later app finds this notification, too.
  it('names notifications that the store could not deliver', async () => {
    const keys = await givenApp();
    await put('/notifications/store_a', { url: `${service.baseUrl}/unknown` });
    await buy(keys);
    // Apple lists a notification as failed after the result of its first attempt.
    await waitFor(
      'an attempt of each notification',
      async () => await control('/notifications'),
      ({ notifications }) => notifications.every(({ attempts }: Json) => attempts.length > 0),
    );
    await advance('PT2H');
    const report = await waitFor(
      'recovered notifications',
      async () => await doctor(keys.appName),
      ({ findings }) => findings.some(({ code }) => code === 'notifications-undelivered'),
    );
    expectOnly(report, { code: 'notifications-undelivered', platform: 'store_a' });
  });
});

describe('doctor with messages in dead-letter queues', () => {
  // Last, because these findings are about the whole service.
  it('names the queue, and then discarded stream records', async () => {
    const { appName } = await givenSmallApp();
    const send = async (output: string) =>
      await queueClient.send(new SendMessageCommand({ QueueUrl: getOutput(output), MessageBody: '{}' }));
    await send('NotificationsDeadLetterQueueUrl');
    expectOnly(await doctor(appName), {
      code: 'dead-letters',
      problem: expect.stringContaining('queue of notifications contains 1 messages'),
    });
    await send('StreamFailuresQueueUrl');
    expect((await doctor(appName)).findings.map(({ code }) => code)).toEqual([
      'dead-letters',
      'stream-records-discarded',
    ]);
  });
});

describe('doctor without --json', () => {
  it('prints the findings by app, with problem and cure', async () => {
    const { appName } = await givenApp({ processor_a: { webhookSecrets: [] } });
    const { code, out } = await runCommand(service.environment, ['doctor', appName, '--timeout', '120']);
    expect(code).toBe(3);
    expect(out).toContain(`App ${appName}\n  error: store-notifications-unverifiable (processor_a)\n`);
    expect(out).toMatch(/\n {4}→ Add the signing secret/);
    expect(out).toMatch(/Store notifications\n.*store_a\n {4}test notification of production: SUCCESS \(\d+ ms\)\n/);
    expect(out).toMatch(/checks made: \d+ errors?, 0 warnings, 0 notes\.\n$/);
  });
});
