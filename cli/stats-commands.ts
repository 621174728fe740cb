import { Command } from 'commander';
import * as v from 'valibot';
import { QueryDay } from '../lib/api/paging.ts';
import { getApp } from '../lib/apps/manage-apps.ts';
import { deps } from '../lib/deps.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { parse } from '../lib/shared/parse.ts';
import { type CounterDifference, correctCounters, recount } from '../lib/statistics/recount.ts';
import { toUtcDay } from '../lib/statistics/tally-item.ts';
import { waitForStream } from '../lib/statistics/wait-for-stream.ts';

/** Longer than an index takes to show what was written to the table. */
const indexLagMs = 5_000;

/** `stats recount`. */
export function createStatsCommands(): Command {
  const stats = new Command('stats').description('Counters behind statistics and lists');
  stats
    .command('recount')
    .description('Compares the counters of days with what the table holds; reads all purchases of the application')
    .argument('<app>')
    .requiredOption('--from <day>', 'the first day, such as 2026-01-01 (UTC)')
    .requiredOption('--to <day>', 'the last day')
    .option('--correct', 'make the counters of days that are over agree, once the stream has been counted up to now')
    .action(recountAction);
  return stats;
}

interface Options {
  readonly from: string;
  readonly to: string;
  readonly correct?: true;
}

const Range = v.object({ from: QueryDay, to: QueryDay });

async function recountAction(appName: string, { from, to, correct: shouldCorrect }: Options): Promise<void> {
  const range = parse(Range, { from, to });
  const days = [range.from, range.to] as const;
  if (days[0] > days[1]) throw new ServiceError('InvalidPayload', 'The first day is after the last.');
  if (shouldCorrect && days[1] >= toUtcDay(deps().now()))
    throw new ServiceError('InvalidPayload', 'Only days that are over can be corrected.');
  await getApp(deps().apps, appName);
  const waitForIndex = async () => await sleep(indexLagMs);
  const differences = await recount(appName, days, { ...deps(), waitForIndex });
  for (const difference of differences) console.log(formatDifference(difference));
  if (differences.length === 0) console.log('The counters agree with the table.');
  if (!shouldCorrect || differences.length === 0) return;
  console.log('Waiting until the stream has been counted up to now.');
  await waitForStream(appName, { ...deps(), wait: sleep });
  await correctCounters(appName, { days, differences }, deps());
  console.log(`${differences.length} corrected.`);
}

const sleep = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

const formatDifference = ({ period, change }: CounterDifference): string => `${period}  ${JSON.stringify(change)}`;
