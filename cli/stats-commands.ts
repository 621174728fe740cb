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

/** Wait for the global secondary indexes, which are eventually consistent. */
const indexLagMs = 5_000;

/** `stats recount`. */
export function createStatsCommands(): Command {
  const stats = new Command('stats').description('Manage the counters of statistics and lists');
  stats
    .command('recount')
    .description('Compare the counters of a range of days with the table (reads all purchases of the app)')
    .argument('<app>')
    .requiredOption('--from <day>', 'first day, such as 2026-01-01 (UTC)')
    .requiredOption('--to <day>', 'last day')
    .option('--correct', 'correct the counters; waits until the stream is aggregated up to now, and requires past days')
    .action(recountAction);
  return stats;
}

interface RecountOptions {
  readonly from: string;
  readonly to: string;
  readonly correct?: true;
}

const Range = v.object({ from: QueryDay, to: QueryDay });

async function recountAction(appName: string, { from, to, correct: shouldCorrect }: RecountOptions): Promise<void> {
  const range = parse(Range, { from, to });
  const days = [range.from, range.to] as const;
  if (days[0] > days[1]) throw new ServiceError('InvalidPayload', '--from must not be after --to.');
  if (shouldCorrect && days[1] >= toUtcDay(deps().now()))
    throw new ServiceError('InvalidPayload', '--correct requires past days: --to must be before today (UTC).');
  await getApp(deps().apps, appName);
  const waitForIndex = async () => await sleep(indexLagMs);
  const differences = await recount(appName, days, { ...deps(), waitForIndex });
  for (const difference of differences) console.log(formatDifference(difference));
  if (differences.length === 0) console.log('The counters match the table.');
  if (!shouldCorrect || differences.length === 0) return;
  console.log('Waiting until the stream is aggregated up to now.');
  await waitForStream(appName, { ...deps(), wait: sleep });
  await correctCounters(appName, { days, differences }, deps());
  console.log(`${differences.length} counters corrected.`);
}

const sleep = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

const formatDifference = ({ period, change }: CounterDifference): string => `${period}  ${JSON.stringify(change)}`;
