import { reportsInvalidSettings } from '../foundation/invalid-settings-error.ts';
import type { Problem } from './describe-problems.ts';

export const streamFailuresCure =
  'An item is unreadable, or a worker failed for 12 hours: run `webhooks stream-failures list` and correct the named ' +
  'items. Then run `webhooks stream-failures replay`.';

/** Cures of problems by the first word of their id. The console has links and buttons in place of these texts. */
const cures: Readonly<Record<string, string>> = {
  'dead-webhooks': 'Run `webhooks replay` with `--dead` after the server works.',
  'late-refreshes': 'Check the schedule and the log of `enqueue-due-items`.',
  'late-statistics': 'Check the schedule of `enqueue-due-items`, then the log of `aggregate-statistics`.',
  'stream-failures': streamFailuresCure,
  'waiting-webhooks': 'Check the log of `send-webhook`.',
  'webhook-url':
    'Start or correct the server of the app, or its URL with `app set-webhook`. Then run `app test-webhook` and ' +
    '`webhooks replay`.',
};

const settingsCure =
  'Check the settings with `doctor` or on the page Stores of the console: both name what to do at the store.';

/** Adds the cure to the text of a problem, for a reader without the console. */
export function addCure(problem: Problem): Problem {
  const cure = reportsInvalidSettings(problem.text, '') ? settingsCure : cures[problem.id.replace(/ .*/, '')];
  return cure === undefined ? problem : { ...problem, text: `${problem.text} ${cure}` };
}
