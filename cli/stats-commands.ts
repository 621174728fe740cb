import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import { toUtcDay } from '../lib/money/rates.ts';
import { type CounterDifference, correctCounters, recount } from '../lib/statistics/recount.ts';
import { restateFigures } from '../lib/statistics/restate-figures.ts';
import { waitForStream } from '../lib/statistics/wait-for-stream.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { formatFailedItems } from './format-failed-items.ts';
import { getService } from './get-service.ts';
import { parseDay } from './option-parsers.ts';
import type { Output } from './output.ts';
import { addStatsShowCommand } from './stats-show-command.ts';
import { type Column, formatTable } from './table.ts';

/** Wait for the global secondary indexes, which are eventually consistent. */
const indexLagMs = 5_000;

export function createStatsCommands(): Command {
  const stats = new Command('stats').description('Read and correct the statistics');
  addStatsShowCommand(stats);
  stats
    .command('recount')
    .description(
      'Compare the counters of a range of days with the table, and find purchases with missing or outdated figures (reads all purchases)',
    )
    .argument('<app>')
    .requiredOption('--from <day>', 'first day, such as 2026-01-01 (UTC)', parseDay)
    .requiredOption('--to <day>', 'last day', parseDay)
    .option('--correct', 'correct the counters; waits until the stream is aggregated up to now, and requires past days')
    .addHelpText(
      'after',
      formatExamples(
        'stats recount my-app --from 2026-01-01 --to 2026-01-31',
        'stats recount my-app --from 2026-01-01 --to 2026-01-31 --correct',
      ),
    )
    .action(printResult(recountAction));
  return stats;
}

interface RecountOptions {
  readonly from: string;
  readonly to: string;
  readonly correct?: true;
}

async function recountAction(
  appName: string,
  { from, to, correct: shouldCorrect }: RecountOptions,
  { width, progress }: Output,
): Promise<CommandResult> {
  const days = [from, to] as const;
  if (from > to) throw new InvalidArgumentError('--from must not be after --to.');
  if (shouldCorrect && to >= toUtcDay(getService().now()))
    throw new InvalidArgumentError('--correct requires past days: --to must be before today (UTC).');
  const app = await getApp(getService(), appName);
  const { found: withoutFigures, failed } = await restateFigures(getService(), app, {
    correct: shouldCorrect === true,
    reportProgress: (count) => progress(`${formatCount(count, 'purchase')} checked`),
  });
  // Their payments would be missing from the counts, and a correction would remove them from the counters.
  if (failed.length > 0)
    return {
      data: { app: appName, from, to, purchasesWithoutFigures: withoutFigures, failed },
      text: [...formatFailedItems(failed), 'The counters are not compared.'].join('\n'),
      exitCode: exitCodes.failed,
    };
  const waitForAggregation = async () => {
    progress('Waiting until the stream is aggregated up to now');
    await waitForStream(getService(), appName, async (ms) => await sleep(ms));
  };
  if (shouldCorrect && withoutFigures > 0) await waitForAggregation();
  const figuresText = formatMissingFigures(withoutFigures, shouldCorrect);
  const waitForIndex = async () => await sleep(indexLagMs);
  const reportProgress = (count: number) => progress(`${formatCount(count, 'item')} counted`);
  const differences = await recount(getService(), appName, days, { waitForIndex, reportProgress });
  const data = {
    app: appName,
    from,
    to,
    purchasesWithoutFigures: withoutFigures,
    differences: differences.map(({ period, isSandbox, product, country, change }) => ({
      period,
      ...(isSandbox && { isSandbox }),
      ...product,
      ...(country && { country }),
      change,
    })),
  };
  if (differences.length === 0)
    return {
      data: { ...data, corrected: 0 },
      text: `The counters match the table.${figuresText}`,
      ...(withoutFigures > 0 && !shouldCorrect && { exitCode: exitCodes.found }),
    };
  const table = formatTable(differenceColumns, differences, width);
  if (!shouldCorrect) return { data: { ...data, corrected: 0 }, text: table + figuresText, exitCode: exitCodes.found };
  await waitForAggregation();
  await correctCounters(getService(), appName, { days, differences });
  return {
    data: { ...data, corrected: differences.length },
    text: `${table}${figuresText}\n${formatCount(differences.length, 'counter')} corrected.`,
  };
}

function formatMissingFigures(count: number, shouldCorrect: boolean | undefined): string {
  if (count === 0) return '';
  const purchases = formatCount(count, 'purchase');
  if (shouldCorrect) return `\n${purchases} corrected with the current rates.`;
  return `\n${purchases} with figures that are missing or differ from the current rates. Pass --correct to correct them.`;
}

const differenceColumns: readonly Column<CounterDifference>[] = [
  { title: 'PERIOD', value: ({ period }) => period, isWhole: true },
  { title: 'PRODUCT', value: ({ product }) => product && `${product.platform} ${product.productId}` },
  { title: 'SANDBOX', value: ({ isSandbox }) => (isSandbox ? 'yes' : undefined) },
  { title: 'CHANGE', value: ({ change }) => JSON.stringify(change) },
];
