import { secondMs } from '../lib/foundation/time.ts';
import { type LocalService, startLocal } from '../local/start-local.ts';
import type { BenchResult } from './bench-result.ts';
import { type RecordedWebhook, startWebhookRecorder } from './webhook-recorder.ts';

/** Actions that require an earlier action. */
const precedingActions: Readonly<Record<string, string>> = {
  uncancel: 'cancel',
  recover: 'fail-payment',
  resume: 'pause',
  'accept-price': 'raise-price',
  'decline-refund': 'request-refund',
  'reverse-refund': 'refund',
};

const actionBodies: Readonly<Record<string, object>> = {
  'change-plan': { productId: 'better' },
  share: { applicationUsername: 'a-relative' },
};

const products: Readonly<Record<string, string>> = { store_c: '9NBLGGH5W123', processor_b: 'monthly' };

/**
 * Time without webhooks after which an action is complete. Longer if the clock moved, because refreshes are due then.
 */
const quietPeriodMs = { pushed: 1.5 * secondMs, polled: 6 * secondMs };

/** Cache time of the app settings in running functions. */
const settingsCacheMs = 15 * secondMs;

type Recorder = Awaited<ReturnType<typeof startWebhookRecorder>>;

/**
 * Measures, for each action at each emulated store: the signed webhooks to two users, the reasons that the purchase
 * lists afterwards, and the time from the change to the last webhook. The Microsoft Store does not push notifications:
 * its time starts when the service's clock moves to the next poll. Refreshes of the next three days find the changes
 * that no store announced.
 */
export async function benchWebhooks(): Promise<BenchResult> {
  const recorder = await startWebhookRecorder();
  const service = await startLocal();
  try {
    await setWebhookUrl(service, recorder);
    const cases = await prepareCases(service);
    await sleep(quietPeriodMs.polled);
    const measurements = [];
    for (const actionCase of cases) measurements.push(await measureAction(service, recorder, actionCase));
    await control(service, '/clock', { advance: 'P3DT1H' });
    await sleep(3 * quietPeriodMs.polled);
    const rows = measurements.map(({ row, summarizeLater }) => ({ ...row, 'found later': summarizeLater() }));
    const timesMs = rows.flatMap(({ ms }) => (ms === '' ? [] : [ms])).sort((a, b) => a - b);
    const [median = '', maximum = ''] = [timesMs[Math.floor(timesMs.length / 2)], timesMs.at(-1)];
    const summary = [
      { platform: 'all', action: 'median', webhooks: '', listed: '', ms: median },
      { platform: 'all', action: 'maximum', webhooks: '', listed: '', ms: maximum },
    ];
    return { title: 'Webhooks of each action, and milliseconds until the last one', rows: [...rows, ...summary] };
  } finally {
    await service.close();
    recorder.close();
  }
}

/** Sets the app's webhook URL like the CLI. */
async function setWebhookUrl({ environment, appName }: LocalService, { url, setSecret }: Recorder): Promise<void> {
  Object.assign(process.env, environment);
  const { getService } = await import('../lib/foundation/container.ts');
  const { setWebhook } = await import('../lib/webhooks/manage-webhooks.ts');
  const settings = { urls: [url], sandboxUrls: [], includesPassword: false };
  setSecret((await setWebhook(appName, settings, { newSecret: true, service: getService() })) ?? '');
  await sleep(settingsCacheMs);
}

interface ActionCase {
  readonly platform: string;
  readonly action: string;
  readonly purchaseId: string;
  readonly users: readonly string[];
}

/** Creates a subscription in the required state for each action. */
async function prepareCases(service: LocalService): Promise<readonly ActionCase[]> {
  const { platforms } = (await control(service, '')) as { platforms: Record<string, { actions: string[] }> };
  const cases: ActionCase[] = [];
  for (const [platform, { actions }] of Object.entries(platforms)) {
    for (const action of actions) {
      const users = [1, 2].map((number) => `${platform}-${action}-${number}`);
      const purchaseId = await createPurchase(service, platform, users);
      const precedingAction = precedingActions[action];
      if (precedingAction !== undefined) await applyAction(service, purchaseId, precedingAction);
      cases.push({ platform, action, purchaseId, users });
    }
  }
  await control(service, '/clock', clockStep);
  // The cases that move the clock are last, so the other times do not depend on it.
  return cases.sort((a, b) => Number(mustBePolled(a)) - Number(mustBePolled(b)));
}

const mustBePolled = ({ platform }: { readonly platform: string }): boolean => platform === 'store_c';
const clockStep = { advance: 'P1DT1M' };

const applyAction = async (service: LocalService, purchaseId: string, action: string): Promise<object> =>
  await control(service, `/purchases/${encodeURIComponent(purchaseId)}/${action}`, actionBodies[action]);

async function measureAction(service: LocalService, { webhooks }: Recorder, actionCase: ActionCase) {
  const { platform, action, purchaseId, users } = actionCase;
  const earlierCount = webhooks.length;
  await applyAction(service, purchaseId, action);
  if (mustBePolled(actionCase)) await control(service, '/clock', clockStep);
  const changedAt = performance.now();
  const quietMs = mustBePolled(actionCase) ? quietPeriodMs.polled : quietPeriodMs.pushed;
  const listNewWebhooks = () => webhooks.slice(earlierCount).filter(({ username }) => users.includes(username));
  let newWebhooks: readonly RecordedWebhook[] = [];
  for (let lastAt = changedAt; performance.now() < lastAt + quietMs; await sleep(20)) {
    newWebhooks = listNewWebhooks();
    lastAt = newWebhooks.at(-1)?.receivedAt ?? changedAt;
  }
  const lastWebhook = newWebhooks.at(-1);
  const row = {
    platform,
    action,
    webhooks: summarizeReasons(newWebhooks),
    listed: await listStoredReasons(service, newWebhooks),
    ms: lastWebhook ? Math.round(lastWebhook.receivedAt - changedAt) : ('' as const),
  };
  return { row, summarizeLater: () => (lastWebhook ? '' : summarizeReasons(listNewWebhooks())) };
}

/** Returns the reasons of the webhooks that the purchase lists as notifications. */
async function listStoredReasons(
  { baseUrl, appName, secretKey }: LocalService,
  webhooks: readonly RecordedWebhook[],
): Promise<string> {
  const storedReasons = new Set<string>();
  for (const [reason, purchaseId] of new Map(webhooks.map((webhook) => [webhook.reason, webhook.purchaseId]))) {
    const headers = { authorization: `Basic ${btoa(`${appName}:${secretKey}`)}` };
    const path = `/v3/purchases/${encodeURIComponent(purchaseId)}?include_notifications=true`;
    const { notifications } = await (await fetch(`${baseUrl}${path}`, { headers })).json();
    if (notifications.some((notification: { reason: string }) => notification.reason === reason))
      storedReasons.add(reason);
  }
  return [...storedReasons].join(', ');
}

/** Creates a subscription that all users have validated. Returns its id in the emulator. */
async function createPurchase(service: LocalService, platform: string, users: readonly string[]): Promise<string> {
  const [applicationUsername = ''] = users;
  const input = {
    platform,
    productId: products[platform] ?? 'premium',
    type: 'paid subscription',
    applicationUsername,
  };
  const { id, validate } = (await control(service, '/purchases', input)) as { id: string; validate: object };
  for (const user of users) {
    const headers = { authorization: `Basic ${btoa(`${service.appName}:${service.publicKey}`)}` };
    const body = JSON.stringify({
      ...validate,
      applicationUsername: user,
      additionalData: { applicationUsername: user },
    });
    const response = await fetch(`${service.baseUrl}/v1/validate`, { method: 'POST', headers, body });
    const { ok, message } = (await response.json()) as { ok: boolean; message?: string };
    if (!ok) throw new Error(`${platform}: ${message}`);
  }
  return id;
}

/** Formats the number of notifications per reason, such as `RENEWED x2`. */
function summarizeReasons(webhooks: readonly RecordedWebhook[]): string {
  const reasons = [...new Set(webhooks.map(({ reason }) => reason))];
  return reasons
    .map((name) => `${name} x${new Set(webhooks.filter(({ reason }) => reason === name).map(({ id }) => id)).size}`)
    .join(', ');
}

async function control({ emulatorUrl }: LocalService, path: string, body?: object): Promise<object> {
  const init = path === '' ? {} : { method: 'POST', body: JSON.stringify(body ?? {}) };
  const response = await fetch(`${emulatorUrl}/control${path}`, init);
  const result = (await response.json()) as { message?: string };
  if (!response.ok) throw new Error(`${path}: ${result.message}`);
  return result;
}

const sleep = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));
