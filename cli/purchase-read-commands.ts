import type { Command } from 'commander';
import { getStoredApp } from '../lib/apps/manage-apps.ts';
import { ServiceError } from '../lib/foundation/errors.ts';
import type { EpochMillis } from '../lib/foundation/time.ts';
import { toNeutralId } from '../lib/foundation/vocabulary.ts';
import { readPurchaseRows } from '../lib/lists/read-purchase-rows.ts';
import { findPurchase, listAnnouncements } from '../lib/purchases/purchase-table.ts';
import { toPurchaseDetails } from '../lib/purchases/to-records.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { describeState, purchaseColumns, toSeconds } from './format-records.ts';
import { getService } from './get-service.ts';
import { parseTime, parseUsername } from './option-parsers.ts';
import type { Output } from './output.ts';
import { addPageOptions, formatPage, type PageOptions } from './paging-options.ts';
import { formatTable } from './table.ts';

export function addPurchaseReadCommands(purchases: Command): void {
  purchases
    .command('show')
    .description('Show a purchase, its customers and what was announced about it')
    .argument('<app>')
    .argument('<id>', 'id of the purchase, such as store_a:2000000123456789 or apple:2000000123456789')
    .addHelpText('after', formatExamples('purchases show my-app store_a:2000000123456789'))
    .action(printResult(showAction));
  addPageOptions(purchases.command('list'))
    .description('List the purchases of an app, oldest first, or those that changed in a date range')
    .argument('<app>')
    .option('--user <name>', 'purchases of a customer', parseUsername)
    .option('--active', 'with --user: only the active ones')
    .option('--from <date>', 'start of the range, such as 2026-01-31T10:00:00Z', parseTime)
    .option('--to <date>', 'end of the range', parseTime)
    .addHelpText(
      'after',
      formatExamples('purchases list my-app --user alice --active', 'purchases list my-app --from 2026-01-31'),
    )
    .action(printResult(listAction));
}

async function showAction(name: string, id: string): Promise<CommandResult> {
  const { name: appName } = await getStoredApp(getService(), name);
  const purchaseId = toNeutralId(id);
  const entitled = await findPurchase(getService(), appName, purchaseId);
  if (!entitled) throw new ServiceError('ResourceNotFound', `The purchase ${purchaseId} is not found.`);
  const notifications = await listAnnouncements(getService(), appName, purchaseId);
  const details = toPurchaseDetails(entitled.purchase, entitled.entitledUsers, {
    now: getService().now(),
    notifications,
  });
  const fields = [
    ['purchase', purchaseId],
    ['product', details.productId],
    ['state', describeState(details)],
    ['bought', details.purchaseDate && toSeconds(details.purchaseDate)],
    ['renewed', details.lastRenewalDate && toSeconds(details.lastRenewalDate)],
    ['expires', details.expirationDate && toSeconds(details.expirationDate)],
    ['intent', details.renewalIntent],
    ['customers', details.entitledUsers.join(', ') || 'none'],
  ].flatMap(([title = '', value]) => (value === undefined ? [] : [`${title.padEnd(11)}${value}`]));
  const announced = (details.notifications ?? []).map(({ date, reason }) => `${toSeconds(date)}  ${reason}`);
  return { data: details, text: [...fields, ...(announced.length > 0 ? ['', ...announced] : [])].join('\n') };
}

interface ListOptions extends PageOptions {
  readonly user?: string;
  readonly active?: boolean;
  readonly from?: EpochMillis;
  readonly to?: EpochMillis;
}

async function listAction(
  name: string,
  { user, active = false, from, to, limit, skip }: ListOptions,
  { width }: Output,
): Promise<CommandResult> {
  const { name: appName } = await getStoredApp(getService(), name);
  const { rows, ...paging } = await readPurchaseRows(getService(), appName, {
    limit,
    skip,
    startdate: from,
    enddate: to,
    customerId: user,
    isActiveOnly: active,
    includesNotifications: false,
  });
  const position = { skip: paging.skip, count: rows.length, total: paging.total };
  return {
    data: { paging, rows },
    text: formatPage(formatTable(purchaseColumns, rows, width), position, 'purchase'),
  };
}
