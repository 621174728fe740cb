import type { Command } from 'commander';
import { getStoredApp } from '../lib/apps/manage-apps.ts';
import { buildCustomerInfo, toCustomerInfo } from '../lib/customers/customer-info.ts';
import { toPurchaseRecord } from '../lib/purchases/to-records.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { deps } from './deps.ts';
import { formatExamples } from './examples.ts';
import { purchaseColumns, toSeconds } from './format-records.ts';
import { parseUsername } from './option-parsers.ts';
import type { Output } from './output.ts';
import { addPageOptions, formatPage, type PageOptions } from './paging-options.ts';
import { type Column, formatTable } from './table.ts';

/** Adds `show` and `list` to the commands of `customer`. */
export function addCustomerReadCommands(customer: Command): void {
  customer
    .command('show')
    .description('Show a customer with the purchases')
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .addHelpText('after', formatExamples('customer show my-app alice', '--json customer show my-app alice'))
    .action(printResult(showAction));
  addPageOptions(customer.command('list'))
    .description('List the customers of an app, oldest first')
    .argument('<app>')
    .addHelpText('after', formatExamples('customer list my-app --limit 100'))
    .action(printResult(listAction));
}

async function showAction(name: string, user: string, _options: object, { width }: Output): Promise<CommandResult> {
  const { name: appName } = await getStoredApp(deps().apps, name);
  const [purchases, now] = [await deps().ownedPurchases.listRepresentativePurchases(appName, user), deps().now()];
  if (purchases.length === 0) throw new ServiceError('ResourceNotFound', `${user} is not a customer of ${appName}.`);
  const customerInfo = buildCustomerInfo(purchases, now);
  const rows = purchases.map((purchase) => ({ ...toPurchaseRecord(purchase, now), entitledUsers: [user] }));
  const columns = purchaseColumns.filter(({ title }) => title !== 'CUSTOMERS');
  return {
    data: {
      applicationUsername: user,
      customerInfo,
      purchases: purchases.map((purchase) => toPurchaseRecord(purchase, now)),
    },
    text: `${user}: ${describeSubscriber(customerInfo)}\n\n${formatTable(columns, rows, width)}`,
  };
}

type Info = ReturnType<typeof toCustomerInfo>;

const describeSubscriber = ({ activeSubscriber, lapsedSubscriber }: Info): string =>
  activeSubscriber ? 'active subscriber' : lapsedSubscriber ? 'lapsed subscriber' : 'no subscriber';

interface CustomerRecord {
  readonly applicationUsername: string;
  readonly customerInfo: Info;
}

const customerColumns: readonly Column<CustomerRecord>[] = [
  { title: 'CUSTOMER', value: ({ applicationUsername }) => applicationUsername, isWhole: true },
  { title: 'SUBSCRIBER', value: ({ customerInfo }) => describeSubscriber(customerInfo) },
  { title: 'LAST PURCHASE', value: ({ customerInfo }) => customerInfo.lastPurchaseId },
  { title: 'DATE', value: ({ customerInfo: { lastPurchaseDate: date } }) => date && toSeconds(date), isWhole: true },
];

async function listAction(name: string, { limit, skip }: PageOptions, { width }: Output): Promise<CommandResult> {
  const { name: appName } = await getStoredApp(deps().apps, name);
  const now = deps().now();
  const { rows: listed, total } = await deps().customerLists.getPage(appName, { limit, skip, now });
  const rows = listed.map(({ username, summary }) => ({
    applicationUsername: username,
    customerInfo: toCustomerInfo(summary, now),
  }));
  const table = formatTable(customerColumns, rows, width);
  return {
    data: { paging: { skip, limit, total }, rows },
    text: formatPage(table, { skip, count: rows.length, total }, 'customer'),
  };
}
