import type { App } from '../apps/app.ts';
import { reportsInvalidSettings } from '../foundation/errors.ts';
import { measureSlowReads } from '../foundation/measure-slow-reads.ts';
import type { Service } from '../foundation/service.ts';
import { describeProblems, type Problem } from './describe-problems.ts';
import { createEnglishFormat } from './english-format.ts';
import { readBacklogs } from './read-backlogs.ts';
import { readStoreStates } from './read-store-states.ts';

const slowTable: Problem = {
  id: 'slow-table',
  tone: 'bad',
  text: 'Reads of the table are slow, so requests are late or fail. Check DynamoDB on the AWS Health Dashboard; `doctor` measures a read.',
};

/** Reads the state of an app, and describes what is wrong now with its cure, the worst first. */
export async function listProblems(service: Service, app: App): Promise<readonly Problem[]> {
  const [due, rows, slowReadMs] = await Promise.all([
    readBacklogs(service, app),
    readStoreStates(service, app.name),
    measureSlowReads(service),
  ]);
  const stores = rows.map(({ platform }) => ({ platform, isConnected: true }));
  const { webhookSettings: webhooks } = app;
  const state = { app: { stores, ...(webhooks && { webhooks }) }, due, stores: { rows } };
  const described = describeProblems(state, createEnglishFormat(service.now())).map((problem) =>
    addCure(problem, app.name),
  );
  const problems = slowReadMs === undefined ? described : [slowTable, ...described];
  // Two URLs that differ only in their query have the same id.
  return [...new Map(problems.toReversed().map((problem) => [problem.id, problem])).values()].reverse();
}

export const streamFailuresCure =
  'An item is unreadable, or a worker failed for 12 hours: run `webhooks stream-failures list` and correct the named ' +
  'items. Then run `webhooks stream-failures replay`.';

/** Cures of problems by the first word of their id. The console has links and buttons instead of these texts. */
const cures: Readonly<Record<string, string>> = {
  'dead-webhooks': 'Run `webhooks replay <app> --dead` after the server works.',
  'late-refreshes': 'Check the schedule and the log of `enqueue-due-items`.',
  'late-statistics': 'Check the schedule of `enqueue-due-items`, then the log of `aggregate-statistics`.',
  'stream-failures': streamFailuresCure,
  'waiting-webhooks': 'Check the log of `send-webhook`.',
  'webhook-url':
    'Start or correct the server of the app, or its URL with `app set-webhook <app>`. Then run `app test-webhook ' +
    '<app>` and `webhooks replay <app> --failed`.',
};

const settingsCure =
  'Check the settings with `doctor <app>` or on the page Stores of the console: both name what to do at the store.';

/** Adds the cure to the text of a problem, for a reader without the console. */
export function addCure(problem: Problem, appName: string): Problem {
  const cure = reportsInvalidSettings(problem.text, '') ? settingsCure : cures[problem.id.replace(/ .*/, '')];
  return cure === undefined ? problem : { ...problem, text: `${problem.text} ${cure.replaceAll('<app>', appName)}` };
}
