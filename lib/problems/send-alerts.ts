import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import { runForApps } from '../apps/app-list-table.ts';
import { ServiceError } from '../foundation/errors.ts';
import { logError, logWarning } from '../foundation/log.ts';
import type { PostOutcome } from '../foundation/outgoing/post-webhook.ts';
import type { Service } from '../foundation/service.ts';
import { findAlerts, saveAlerts } from './alert-table.ts';
import { compareProblems, type ProblemChanges } from './compare-problems.ts';
import { formatDistance } from './format-distance.ts';
import { listProblems } from './list-problems.ts';

/** A server that does not respond takes 15 of the 55 seconds of a run. */
const concurrency = 20;

/**
 * Sends the problems that have started or ended since the previous run to the alert URLs of all apps. An alert that
 * fails is repeated by the next run. Throws the first failure after all apps.
 */
export async function sendAlerts(service: Service): Promise<void> {
  await runForApps(service, async (apps) => await sendAlertsOfApps(service, apps), { isEventuallyConsistent: true });
}

async function sendAlertsOfApps(service: Service, apps: readonly App[]): Promise<void> {
  const failures: unknown[] = [];
  await pMap(
    apps.filter(({ alertUrl, deletedAt }) => alertUrl && deletedAt === undefined),
    async (app) => {
      try {
        await sendAlert(service, app);
      } catch (error) {
        logError({ worker: 'send-alerts', app: app.name }, ServiceError.fromUnknown(error));
        failures.push(error);
      }
    },
    { concurrency },
  );
  if (failures.length > 0) throw failures[0];
}

async function sendAlert(service: Service, app: App): Promise<void> {
  const { name, alertUrl: url = '' } = app;
  const state = await findAlerts(service, name);
  // A new URL has received nothing yet.
  const previous = state?.url === url ? state.problems : [];
  const now = service.now();
  const changes = compareProblems(previous, await listProblems(service, app), now);
  if (changes.started.length > 0 || changes.ended.length > 0) {
    const body = buildAlert(name, changes, now);
    const outcome = await service.postWebhook({ url, headers: { 'content-type': 'application/json' }, body });
    const failure = describeFailure(outcome);
    if (failure) return logWarning({ worker: 'send-alerts', app: name }, failure);
  }
  if (previous.length > 0 || changes.announced.length > 0)
    await saveAlerts(service, name, { url, problems: [...changes.announced] });
}

/** Throws `InvalidPayload` without a URL, or if its server does not accept the alert. */
export async function sendTestAlert(service: Service, { name, alertUrl: url }: App): Promise<void> {
  if (!url) throw new ServiceError('InvalidPayload', 'The app has no URL for alerts.');
  const headers = { 'content-type': 'application/json' };
  const failure = describeFailure(await service.postWebhook({ url, headers, body: buildTestAlert(name) }));
  if (failure) throw new ServiceError('InvalidPayload', failure.message, { cause: failure });
}

function describeFailure(outcome: PostOutcome): ServiceError | undefined {
  if (!('status' in outcome)) return new ServiceError('ConnectionFailed', `The alert failed: ${outcome.message}`);
  if (outcome.status >= 200 && outcome.status < 300) return undefined;
  return new ServiceError('ConnectionFailed', `The alert failed: the server responded with ${outcome.status}.`);
}

const symbols = { bad: '🔴', warn: '🟠' } as const;

/**
 * Builds the body of an alert in Slack's format.
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export const buildAlert = (appName: string, { started, ended }: ProblemChanges, now: number): string =>
  toBody(appName, [
    ...started.map(({ tone, text }) => `${symbols[tone]} ${text}`),
    ...ended.map(({ startedAt, text }) => `✅ Ended, reported ${formatDistance(startedAt - now, ['en-US'])}: ${text}`),
  ]);

const buildTestAlert = (appName: string): string => toBody(appName, ['✅ A test: alerts arrive here.']);

const toBody = (appName: string, lines: readonly string[]): string =>
  JSON.stringify({ text: [`*Claimcheck, app ${appName}*`, ...lines].map(escapeText).join('\n') });

/**
 * Escapes the characters with which Slack marks links and mentions.
 * @see https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
