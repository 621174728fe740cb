import type { Problem } from './describe-problems.ts';

/** Cures of problems by the start of their id. The console has links and buttons in place of these texts. */
const cures: Readonly<Record<string, string>> = {
  'late-refreshes': 'Check the schedule and the log of `enqueue-due-items`.',
  'late-statistics': 'Check the schedule of `enqueue-due-items`, then the log of `aggregate-statistics`.',
  'waiting-webhooks': 'Check the log of `send-webhook`.',
};

const settingsCure =
  'Check the settings with `doctor` or on the page Stores of the console: both name what to do at the store.';

/** Adds the cure to the text of a problem, for a reader without the console. */
export function addCure(problem: Problem): Problem {
  const cure = problem.text.includes(' rejected the settings: ') ? settingsCure : cures[problem.id];
  return cure === undefined ? problem : { ...problem, text: `${problem.text} ${cure}` };
}
