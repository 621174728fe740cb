import { type LocalService, startLocal } from '../local/start-local.ts';
import type { BenchResult } from './bench-result.ts';
import { type RecordedWebhook, startWebhookRecorder } from './webhook-recorder.ts';

/** What must have happened before. */
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

/** An action is over when nothing was told of it for this long; with the clock much else moves, too. */
const quietPeriodMs = { told: 1_500, found: 6_000 };

type Catcher = Awaited<ReturnType<typeof startWebhookRecorder>>;

/**
 * Everything that can happen to a subscription at each emulated store, on the local service: what the application is told
 * of, in signed webhooks to each of two users, what of it the purchase keeps, and how long after the change the last of
 * them arrives. store_c tells nothing by itself; of that store the time counts from when the service's clock is moved to its
 * next look. What no store tells is looked for in the end, three days later.
 */
export async function benchWebhooks(): Promise<BenchResult> {
  const catcher = await startWebhookRecorder();
  const service = await startLocal();
  try {
    await listen(service, catcher);
    const happenings = await prepareCases(service);
    await sleep(quietPeriodMs.found);
    const tried = [];
    for (const happening of happenings) tried.push(await measureAction(service, catcher, happening));
    await control(service, '/clock', { advance: 'P3DT1H' });
    await sleep(3 * quietPeriodMs.found);
    const rows = tried.map(({ shown, foundLater }) => ({ ...shown, 'found later': foundLater() }));
    const times = rows.flatMap(({ ms }) => (ms === '' ? [] : [ms])).sort((a, b) => a - b);
    const [middle = '', last = ''] = [times[Math.floor(times.length / 2)], times.at(-1)];
    const summary = [
      { platform: 'all', action: 'median', webhooks: '', kept: '', ms: middle },
      { platform: 'all', action: 'longest', webhooks: '', kept: '', ms: last },
    ];
    return {
      title: 'What an application is told, and milliseconds until the last webhook',
      rows: [...rows, ...summary],
    };
  } finally {
    await service.close();
    catcher.close();
  }
}

/** Sets the application's webhook as the command line does. */
async function listen({ environment, appName }: LocalService, { url, trust }: Catcher): Promise<void> {
  Object.assign(process.env, environment);
  const { deps } = await import('../lib/deps.ts');
  const { setWebhook } = await import('../lib/webhooks/manage-webhooks.ts');
  const settings = { urls: [url], sandboxUrls: [], includesPassword: false };
  trust((await setWebhook(appName, settings, { newSecret: true, deps: deps() })) ?? '');
  // Running functions know the old settings for this long.
  await sleep(15_000);
}

interface ActionCase {
  readonly platform: string;
  readonly action: string;
  /** Of the purchase. */
  readonly id: string;
  readonly users: readonly string[];
}

/** A subscription for each action, as the action needs it. */
async function prepareCases(service: LocalService): Promise<readonly ActionCase[]> {
  const { platforms } = (await control(service, '')) as { platforms: Record<string, { actions: string[] }> };
  const happenings: ActionCase[] = [];
  for (const [platform, { actions }] of Object.entries(platforms)) {
    for (const action of actions) {
      const users = [1, 2].map((number) => `${platform}-${action}-${number}`);
      const id = await createPurchase(service, platform, users);
      const before = precedingActions[action];
      if (before !== undefined) await applyAction(service, id, before);
      happenings.push({ platform, action, id, users });
    }
  }
  await control(service, '/clock', clockStep);
  // Moving the clock on is the last thing: the others' times do not depend on it.
  return happenings.sort((a, b) => Number(sendsNoNotifications(a)) - Number(sendsNoNotifications(b)));
}

const sendsNoNotifications = ({ platform }: { readonly platform: string }): boolean => platform === 'store_c';
const clockStep = { advance: 'P1DT1M' };

const applyAction = async (service: LocalService, id: string, action: string): Promise<object> =>
  await control(service, `/purchases/${encodeURIComponent(id)}/${action}`, actionBodies[action]);

async function measureAction(service: LocalService, { caught }: Catcher, { platform, action, id, users }: ActionCase) {
  const known = caught.length;
  await applyAction(service, id, action);
  if (sendsNoNotifications({ platform })) await control(service, '/clock', clockStep);
  const changedAt = performance.now();
  const quietMs = sendsNoNotifications({ platform }) ? quietPeriodMs.found : quietPeriodMs.told;
  const toldSince = () => caught.slice(known).filter(({ username }) => users.includes(username));
  let told: readonly RecordedWebhook[] = [];
  for (let last = changedAt; performance.now() < last + quietMs; await sleep(20)) {
    told = toldSince();
    last = told.at(-1)?.at ?? changedAt;
  }
  const ms = told.length === 0 ? '' : Math.round((told.at(-1)?.at ?? 0) - changedAt);
  const shown = {
    platform,
    action,
    webhooks: summarizeReasons(told),
    kept: await listStoredReasons(service, told),
    ms,
  } as const;
  return { shown, foundLater: () => (told.length === 0 ? summarizeReasons(toldSince()) : '') };
}

/** Which of the reasons the purchase itself lists from then on. */
async function listStoredReasons(
  { baseUrl, appName, secretKey }: LocalService,
  told: readonly RecordedWebhook[],
): Promise<string> {
  const kept = new Set<string>();
  for (const [reason, purchaseId] of new Map(told.map((one) => [one.reason, one.purchaseId]))) {
    const headers = { authorization: `Basic ${btoa(`${appName}:${secretKey}`)}` };
    const path = `/v3/purchases/${encodeURIComponent(purchaseId)}?include_notifications=true`;
    const { notifications } = await (await fetch(`${baseUrl}${path}`, { headers })).json();
    if (notifications.some((one: { reason: string }) => one.reason === reason)) kept.add(reason);
  }
  return [...kept].join(', ');
}

/** A subscription that two users have validated. */
async function createPurchase(service: LocalService, platform: string, users: readonly string[]): Promise<string> {
  const [applicationUsername = ''] = users;
  const order = {
    platform,
    productId: products[platform] ?? 'premium',
    type: 'paid subscription',
    applicationUsername,
  };
  const { id, validate } = (await control(service, '/purchases', order)) as { id: string; validate: object };
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

/** `RENEWED x2`: how many calls with this reason there were, by different ids. */
function summarizeReasons(told: readonly RecordedWebhook[]): string {
  const reasons = [...new Set(told.map(({ reason }) => reason))];
  return reasons
    .map((one) => `${one} x${new Set(told.filter(({ reason }) => reason === one).map(({ id }) => id)).size}`)
    .join(', ');
}

async function control({ emulatorUrl }: LocalService, path: string, body?: object): Promise<object> {
  const init = path === '' ? {} : { method: 'POST', body: JSON.stringify(body ?? {}) };
  const response = await fetch(`${emulatorUrl}/control${path}`, init);
  const shown = (await response.json()) as { message?: string };
  if (!response.ok) throw new Error(`${path}: ${shown.message}`);
  return shown;
}

const sleep = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));
