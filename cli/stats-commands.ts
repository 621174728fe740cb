import { Command } from 'commander';
import * as v from 'valibot';
import { Day } from '../lib/api/paging.ts';
import { existing } from '../lib/apps/operator.ts';
import { caughtUp } from '../lib/counting/caught-up.ts';
import { correct, type Difference, recount } from '../lib/counting/recount.ts';
import { deps } from '../lib/deps.ts';
import { ServiceError } from '../lib/errors.ts';
import { parse } from '../lib/parse.ts';
import { dayOf } from '../lib/stats/contributions.ts';

/** Longer than an index takes to show what was written to the table. */
const settlesMs = 5_000;

/** `stats recount`. */
export function statsCommands(): Command {
  const stats = new Command('stats').description('Counters behind statistics and lists');
  stats
    .command('recount')
    .description('Compares the counters of days with what the table holds; reads all purchases of the application')
    .argument('<app>')
    .requiredOption('--from <day>', 'the first day, such as 2026-01-01 (UTC)')
    .requiredOption('--to <day>', 'the last day')
    .option('--correct', 'make the counters of days that are over agree, once the stream has been counted up to now')
    .action(compare);
  return stats;
}

interface Options {
  readonly from: string;
  readonly to: string;
  readonly correct?: true;
}

const Range = v.object({ from: Day, to: Day });

async function compare(app: string, { from, to, correct: corrects }: Options): Promise<void> {
  const range = parse(Range, { from, to });
  const days = [range.from, range.to] as const;
  if (days[0] > days[1]) throw new ServiceError('InvalidPayload', 'The first day is after the last.');
  if (corrects && days[1] >= dayOf(deps().now()))
    throw new ServiceError('InvalidPayload', 'Only days that are over can be corrected.');
  await existing(deps().apps, app);
  const settles = async () => await wait(settlesMs);
  const differences = await recount(app, days, { ...deps(), settles });
  for (const difference of differences) console.log(lineOf(difference));
  if (differences.length === 0) console.log('The counters agree with the table.');
  if (!corrects || differences.length === 0) return;
  console.log('Waiting until the stream has been counted up to now.');
  await caughtUp(app, { ...deps(), wait });
  await correct(app, { days, differences }, deps());
  console.log(`${differences.length} corrected.`);
}

const wait = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

const lineOf = ({ period, change }: Difference): string => `${period}  ${JSON.stringify(change)}`;
