import type { App } from '../apps/app.ts';
import { findWebhookSender } from '../apps/app-table.ts';
import { type ErrorCode, ServiceError } from '../foundation/errors.ts';
import { parseWebhookUrl } from '../foundation/outgoing/webhook-url.ts';
import { isLocalService, type Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { WebhookDelivery } from '../webhooks/delivery.ts';
import { findUrlHealth } from '../webhooks/delivery-table.ts';
import { toDisplayUrl } from '../webhooks/display-url.ts';
import { listDeliveryPage } from '../webhooks/list-deliveries.ts';
import type { WebhookUrlHealth } from '../webhooks/url-health.ts';
import { formatDuration } from './clock.ts';
import { describeError } from './describe-error.ts';
import { createFinding, type Finding } from './finding.ts';

/** Failed attempts from which retries are a finding: a restart of the app's server fails once or twice. */
const minFailedAttempts = 3;

interface UrlState {
  readonly url: string;
  readonly health: WebhookUrlHealth;
}

/** Checks the webhook URLs of an app, and its failed deliveries. */
export async function checkWebhooks(service: Service, app: App): Promise<readonly Finding[]> {
  const { name, webhookSettings } = app;
  if (!webhookSettings) return [createMissingFinding(name)];
  const urls = [...new Set([...webhookSettings.urls, ...webhookSettings.sandboxUrls])];
  if (urls.length === 0) return [createOffFinding(name)];
  const [states, failed] = await Promise.all([
    Promise.all(urls.map(async (url) => ({ url, health: await findUrlHealth(service, name, url) }))),
    listFailed(service, name),
  ]);
  const urlFindings = states.flatMap((state) =>
    checkUrl(state, { app: name, failed, now: service.now(), allowsLoopback: isLocalService(service.emulator) }),
  );
  const unexplained = failed.filter(({ url }) => !urlFindings.some((finding) => finding.url === url));
  return [...urlFindings.map(({ finding }) => finding), ...checkDeliveries(name, unexplained)];
}

/** Maximum number of deliveries of a state that are counted. */
const maxDeliveries = 1_000;

/** Lists the latest dead deliveries and the latest ones that are retried. */
async function listFailed(service: Service, app: string): Promise<WebhookDelivery[]> {
  const states = ['dead', 'pending'] as const;
  const pages = await Promise.all(
    states.map(async (state) => await listDeliveryPage(service, app, { state, limit: maxDeliveries })),
  );
  return pages.flatMap(({ rows }) => rows).filter(({ type }) => type !== 'test');
}

/** Formats a number of webhooks with the verb of its number, such as `1 webhook is` or `At least 1000 webhooks are`. */
function formatWebhooks(count: number, [singular, plural]: readonly [string, string]): string {
  if (count === 1) return `1 webhook ${singular}`;
  return `${count < maxDeliveries ? count : `At least ${maxDeliveries}`} webhooks ${plural}`;
}

const formatConnections = (count: number): string =>
  count === 1 ? '1 connection timed out or was refused' : `${count} connections in a row timed out or were refused`;

const createMissingFinding = (app: string): Finding =>
  createFinding(
    'webhook-url-missing',
    {
      problem: `The app ${app} lacks a webhook URL, so its server is not notified of renewals, refunds and expirations.`,
      cure: `Run \`app set-webhook ${app} --url https://…\`, or \`--off\` if the server does not need webhooks.`,
    },
    { app },
  );

const createOffFinding = (app: string): Finding =>
  createFinding(
    'webhook-url-off',
    {
      problem: `The webhooks of the app ${app} are switched off.`,
      cure: `Run \`app set-webhook ${app} --url https://…\` if the server of the app needs them.`,
    },
    { app },
  );

/** Decrypts the secrets that webhooks contain. */
export async function checkWebhookSecrets(service: Service, { name: app }: App): Promise<readonly Finding[]> {
  try {
    await findWebhookSender(service, app);
    return [];
  } catch (error) {
    if (error instanceof ServiceError && error.code === ('DatabaseError' satisfies ErrorCode)) throw error;
    return [
      createFinding(
        'webhook-secrets-unreadable',
        {
          problem: `The secret key or the signing secret of the app ${app} cannot be decrypted, so its webhooks cannot be sent: ${describeError(error)}.`,
          cure: `Add the former key to the secret of the master key again. If it is lost, run \`app rotate-key ${app} secret\` and \`app set-webhook ${app} --new-secret\`.`,
        },
        { app },
      ),
    ];
  }
}

interface UrlCheck {
  readonly app: string;
  readonly failed: readonly WebhookDelivery[];
  readonly now: EpochMillis;
  readonly allowsLoopback: boolean;
}

/** Returns at most one finding of a URL: its first cause explains the failed deliveries to it. */
function checkUrl({ url, health }: UrlState, { app, failed, now, allowsLoopback }: UrlCheck) {
  const shownUrl = toDisplayUrl(url);
  const count = failed.filter((delivery) => delivery.url === url).length;
  const create = (code: Finding['code'], problem: string, cure: string) => [
    { url, finding: createFinding(code, { problem, cure }, { app }) },
  ];
  const rejection = findRejection(url, allowsLoopback);
  if (rejection !== undefined)
    return create(
      'webhook-url-not-allowed',
      `Webhooks to ${shownUrl} are not sent: ${rejection}`,
      `Set a public https URL with \`app set-webhook ${app} --url https://…\`.`,
    );
  if (health.disabledAt !== undefined)
    return create(
      'webhook-url-disabled',
      `${shownUrl} responded with 410 Gone ${formatDuration(now - health.disabledAt)} ago, so nothing is sent to it. ${formatWebhooks(count, ['is', 'are'])} lost so far.`,
      `Correct the server or the URL, run \`app test-webhook ${app}\`, which enables the URL, and \`webhooks replay ${app} --dead\`.`,
    );
  if (health.consecutiveFailures !== undefined)
    return create(
      'webhook-url-unresponsive',
      `${shownUrl} does not respond: ${formatConnections(health.consecutiveFailures)}. ${formatWebhooks(count, ['is', 'are'])} affected.`,
      `Start the server of the app, or correct the URL with \`app set-webhook ${app} --url https://…\`. Then run \`app test-webhook ${app}\` and \`webhooks replay ${app} --failed\`.`,
    );
  return [];
}

function findRejection(url: string, allowsLoopback: boolean): string | undefined {
  try {
    parseWebhookUrl(url, { allowsLoopback });
    return undefined;
  } catch (error) {
    return ServiceError.fromUnknown(error).message;
  }
}

/** Checks deliveries whose URL responds. */
function checkDeliveries(app: string, failed: readonly WebhookDelivery[]): Finding[] {
  const dead = failed.filter(({ state }) => state === 'dead');
  const failing = failed.filter(
    ({ state, failedAttempts }) => state === 'pending' && failedAttempts >= minFailedAttempts,
  );
  const [latest] = dead.length > 0 ? dead : failing;
  const reason = latest?.failureReason ?? `HTTP ${latest?.lastHttpStatus ?? 'unknown'}`;
  return [
    ...(dead.length > 0
      ? [
          createFinding(
            'webhook-deliveries-dead',
            {
              problem: `${formatWebhooks(dead.length, ['has failed for three days and is', 'have failed for three days and are'])} no longer retried. Reason of the latest: ${reason.replace(/\.$/, '')}.`,
              cure: `When the server of the app works, run \`webhooks replay ${app} --dead\`.`,
            },
            { app },
          ),
        ]
      : []),
    ...(failing.length > 0
      ? [
          createFinding(
            'webhook-deliveries-failing',
            {
              problem: `${formatWebhooks(failing.length, [`has failed at least ${minFailedAttempts} times and is`, `have failed at least ${minFailedAttempts} times and are`])} retried. Reason of the latest: ${reason.replace(/\.$/, '')}.`,
              cure: `Correct the server of the app: \`webhooks list ${app}\` shows its responses.`,
            },
            { app },
          ),
        ]
      : []),
  ];
}
