import { type Command, InvalidArgumentError } from 'commander';
import { getStoredApp } from '../lib/apps/manage-apps.ts';
import type { DailyStat, MonthlyStat } from '../lib/statistics/contract.ts';
import { listCounterDays, listCounterMonths } from '../lib/statistics/counter-table.ts';
import { indexByPeriod } from '../lib/statistics/counts.ts';
import { parseStatsRange } from '../lib/statistics/stats-range.ts';
import { buildDailyStats, buildMonthlyStats, getFirstRequiredDay } from '../lib/statistics/to-stats.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { getService } from './get-service.ts';
import { parseDay } from './option-parsers.ts';
import type { Output } from './output.ts';
import { type Column, formatTable } from './table.ts';

export function addStatsShowCommand(stats: Command): void {
  stats
    .command('show')
    .description('Show revenue, transactions and requests by day, or by month')
    .argument('<app>')
    .option('--from <day>', 'first day, such as 2026-01-01 (UTC); 31 days or 12 months by default', parseDay)
    .option('--to <day>', 'last day; today by default', parseDay)
    .option('--months', 'months instead of days')
    .option('--sandbox', "purchases of the stores' sandboxes only")
    .addHelpText('after', formatExamples('stats show my-app', 'stats show my-app --from 2026-01-01 --months'))
    .action(printResult(showAction));
}

interface ShowOptions {
  readonly from?: string;
  readonly to?: string;
  readonly months?: true;
  readonly sandbox?: true;
}

async function showAction(
  name: string,
  { from, to, months, sandbox }: ShowOptions,
  { width }: Output,
): Promise<CommandResult> {
  const range = parseStatsRange({ startdate: from, enddate: to }, getService().now());
  if (!range) throw new InvalidArgumentError('--from must not be after --to.');
  const { name: appName } = await getStoredApp(getService(), name);

  const group = { isSandbox: sandbox === true };
  const rows = months
    ? buildMonthlyStats(
        indexByPeriod(await listCounterMonths(getService(), appName, { months: range.months, ...group })),
        range.months,
        {},
      )
    : buildDailyStats(
        indexByPeriod(
          await listCounterDays(getService(), appName, {
            days: [getFirstRequiredDay(range.days[0]), range.days[1]],
            ...group,
          }),
        ),
        range.days,
        {},
      );
  return { data: { app: appName, rows }, text: formatTable<DailyStat | MonthlyStat>(columns, rows, width) };
}

const columns: readonly Column<DailyStat | MonthlyStat>[] = [
  { title: 'PERIOD', value: ({ date }) => date, isWhole: true },
  { title: 'REVENUE USD', value: ({ amountUSD }) => amountUSD.toFixed(2), align: 'right' },
  { title: 'TRANSACTIONS', value: ({ numTransactions }) => numTransactions, align: 'right' },
  { title: 'PAID', value: ({ numPaidTransactions }) => numPaidTransactions, align: 'right' },
  { title: 'REQUESTS', value: ({ numRequests }) => numRequests, align: 'right' },
];
