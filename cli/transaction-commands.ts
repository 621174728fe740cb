import { Command, InvalidArgumentError } from 'commander';
import { getStoredApp } from '../lib/apps/manage-apps.ts';
import type { EpochMillis } from '../lib/foundation/time.ts';
import { toNeutralId } from '../lib/foundation/vocabulary.ts';
import { findTransactions } from '../lib/lists/find-transactions.ts';
import { addPurchases, readTransactionRows } from '../lib/lists/read-transaction-rows.ts';
import { listOwnedTransactions } from '../lib/purchases/owned-purchase-table.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import {
  addFilterOptions,
  type FilterOptions,
  formatMatches,
  isFiltered,
  readMatches,
  toFilter,
} from './filter-options.ts';
import { transactionColumns } from './format-records.ts';
import { getService } from './get-service.ts';
import { parseTime, parseUsername } from './option-parsers.ts';
import type { Output } from './output.ts';
import { addPageOptions, formatPage } from './paging-options.ts';
import { formatTable } from './table.ts';

export function createTransactionCommands(): Command {
  const transactions = new Command('transactions').description('Read the transactions of an app');
  addFilterOptions(addPageOptions(transactions.command('list')))
    .description('List transactions, oldest first; with --user, latest first')
    .argument('<app>')
    .option('--user <name>', 'transactions of a customer', parseUsername)
    .option('--purchase <id>', 'transactions of a purchase')
    .option('--refunded', 'refunded transactions')
    .option('--from <date>', 'start of the range, such as 2026-01-31T10:00:00Z', parseTime)
    .option('--to <date>', 'end of the range', parseTime)
    .addHelpText(
      'after',
      formatExamples(
        'transactions list my-app --from 2026-01-01 --to 2026-02-01',
        'transactions list my-app --user alice',
        'transactions list my-app --store apple --refunded --no-sandbox',
      ),
    )
    .action(printResult(listAction));
  return transactions;
}

interface ListOptions extends FilterOptions {
  readonly user?: string;
  readonly purchase?: string;
  readonly refunded?: true;
  readonly from?: EpochMillis;
  readonly to?: EpochMillis;
}

async function listAction(name: string, options: ListOptions, { width }: Output): Promise<CommandResult> {
  const { user, purchase, refunded, from, to, limit, skip } = options;
  const hasFilter = isFiltered(options, refunded);
  if (hasFilter && purchase !== undefined) throw new InvalidArgumentError('Pass --purchase without a filter.');
  if (!hasFilter && user !== undefined && [purchase, from, to].some((option) => option !== undefined))
    throw new InvalidArgumentError('Pass --user without --purchase, --from and --to.');
  const { name: appName } = await getStoredApp(getService(), name);
  const rowOptions = { includesNotifications: false, includesCustomers: true };
  if (hasFilter) {
    const filter = { ...toFilter(options), startdate: from, enddate: to, username: user, isRefunded: refunded };
    const found = await readMatches(options, (page) =>
      findTransactions(getService(), appName, { filter, order: 'oldest', ...page }),
    );
    const matches = { ...found, rows: await addPurchases(getService(), appName, found.rows, rowOptions) };
    return {
      data: matches,
      text: formatMatches(formatTable(transactionColumns, matches.rows, width), matches, 'transaction'),
    };
  }
  if (user !== undefined) {
    // One more row shows whether there is a next page.
    const found = await listOwnedTransactions(getService(), appName, user, { limit: limit + 1, skip });
    const rows = await addPurchases(getService(), appName, found.slice(0, limit), rowOptions);
    return toResult(rows, { skip, limit, total: skip + found.length }, width);
  }
  const purchaseId = purchase === undefined ? undefined : toNeutralId(purchase);
  const query = { limit, skip, startdate: from, enddate: to, purchaseId };
  const { rows, total } = await readTransactionRows(getService(), appName, query, rowOptions);
  return toResult(rows, { skip, limit, total }, width);
}

function toResult(
  rows: Awaited<ReturnType<typeof addPurchases>>,
  paging: { readonly skip: number; readonly limit: number; readonly total: number },
  width: number | undefined,
): CommandResult {
  const table = formatTable(transactionColumns, rows, width);
  const position = { skip: paging.skip, count: rows.length, total: paging.total };
  return { data: { paging, rows }, text: formatPage(table, position, 'transaction') };
}
