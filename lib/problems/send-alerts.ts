import pMap from 'p-map';
import type { App } from '../apps/app.ts';
import type { AppRepository } from '../apps/app-repository.ts';
import { ServiceError } from '../shared/errors.ts';
import { logWarning } from '../shared/log.ts';
import type { PostOutcome, PostWebhook } from '../webhooks/post-webhook.ts';
import type { AlertRepository } from './alert-repository.ts';
import { buildAlert } from './build-alert.ts';
import { compareProblems } from './compare-problems.ts';
import { describeProblems, type Problem } from './describe-problems.ts';
import { createEnglishFormat } from './english-format.ts';
import { type BacklogDeps, readBacklogs } from './read-backlogs.ts';
import { readStoreStates, type StoreStateDeps } from './read-store-states.ts';

export type SendAlertsDeps = BacklogDeps &
  StoreStateDeps & {
    readonly alerts: AlertRepository;
    readonly apps: Pick<AppRepository, 'list'>;
    readonly postWebhook: PostWebhook;
  };

/** A server that does not respond takes 15 seconds of the run. */
const concurrency = 10;

/**
 * Sends the problems that have started or ended since the previous run to the alert URLs of all apps. An alert that
 * fails is repeated by the next run. Throws the first failure after all apps.
 */
export async function sendAlerts(deps: SendAlertsDeps): Promise<void> {
  const failures: unknown[] = [];
  const apps = (await deps.apps.list()).filter(({ alertUrl, deletedAt }) => alertUrl && deletedAt === undefined);
  await pMap(
    apps,
    async (app) => {
      try {
        await sendAlert(app, deps);
      } catch (error) {
        failures.push(error);
      }
    },
    { concurrency },
  );
  if (failures.length > 0) throw failures[0];
}

async function sendAlert(app: App, deps: SendAlertsDeps): Promise<void> {
  const { name, alertUrl: url = '' } = app;
  const state = await deps.alerts.find(name);
  // A new URL has received nothing yet.
  const previous = state?.url === url ? state.problems : [];
  const now = deps.now();
  const changes = compareProblems(previous, await listProblems(app, deps), now);
  if (changes.started.length > 0 || changes.ended.length > 0) {
    const body = buildAlert(name, changes, now);
    const outcome = await deps.postWebhook({ url, headers: { 'content-type': 'application/json' }, body });
    const failure = describeFailure(outcome);
    if (failure) return logWarning({ worker: 'send-alerts', app: name }, failure);
  }
  if (previous.length > 0 || changes.announced.length > 0)
    await deps.alerts.save(name, { url, problems: [...changes.announced] });
}

async function listProblems(app: App, deps: SendAlertsDeps): Promise<readonly Problem[]> {
  const [due, rows] = await Promise.all([readBacklogs(app, deps), readStoreStates(app.name, deps)]);
  const stores = rows.map(({ platform }) => ({ platform, isConnected: true }));
  const { webhookSettings: webhooks } = app;
  const state = { app: { stores, ...(webhooks && { webhooks }) }, due, stores: { rows } };
  const problems = describeProblems(state, createEnglishFormat(deps.now()));
  // Two URLs that differ only in their query have the same id.
  return [...new Map(problems.toReversed().map((problem) => [problem.id, problem])).values()].reverse();
}

function describeFailure(outcome: PostOutcome): ServiceError | undefined {
  if (!('status' in outcome)) return new ServiceError('ConnectionFailed', `The alert failed: ${outcome.message}`);
  if (outcome.status >= 200 && outcome.status < 300) return undefined;
  return new ServiceError('ConnectionFailed', `The alert failed: the server responded with ${outcome.status}.`);
}
