import { type Command, Option } from 'commander';
import { getStoredApp } from '../lib/apps/manage-apps.ts';
import type { SubscriberState } from '../lib/customers/contract.ts';
import { buildCustomerInfo, toCustomerInfo } from '../lib/customers/customer-info.ts';
import type { CustomerRow } from '../lib/customers/customer-summary.ts';
import { searchCustomers } from '../lib/entitlements/find-customers.ts';
import { ServiceError } from '../lib/foundation/errors.ts';
import type { EpochMillis } from '../lib/foundation/time.ts';
import { getCustomerPage } from '../lib/lists/list-tables.ts';
import { listRepresentativePurchases } from '../lib/purchases/owned-purchase-table.ts';
import { toPurchaseRecord } from '../lib/purchases/to-records.ts';
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
import { purchaseColumns, toSeconds } from './format-records.ts';
import { getService } from './get-service.ts';
import { parseUsername } from './option-parsers.ts';
import type { Output } from './output.ts';
import { addPageOptions, formatPage } from './paging-options.ts';
import { type Column, formatTable } from './table.ts';

const subscriberStates: readonly SubscriberState[] = ['active', 'trial', 'grace', 'lapsed', 'none'];

export function addCustomerReadCommands(customer: Command): void {
  customer
    .command('show')
    .description('Show a customer with the purchases')
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .addHelpText('after', formatExamples('customer show my-app alice', '--json customer show my-app alice'))
    .action(printResult(showAction));
  addFilterOptions(addPageOptions(customer.command('list')))
    .description('List the customers of an app, oldest first; the last purchase decides store, product and sandbox')
    .argument('<app>')
    .addOption(new Option('--state <state>', 'customers in a state').choices(subscriberStates))
    .option('--entitlement <name>', 'customers with an active entitlement')
    .addHelpText(
      'after',
      formatExamples('customer list my-app --limit 100', 'customer list my-app --state grace --store google'),
    )
    .action(printResult(listAction));
}

async function showAction(name: string, user: string, { width }: Output): Promise<CommandResult> {
  const { name: appName } = await getStoredApp(getService(), name);
  const [purchases, now] = [await listRepresentativePurchases(getService(), appName, user), getService().now()];
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

const toCustomerRecord = ({ username, summary }: CustomerRow, now: EpochMillis): CustomerRecord => ({
  applicationUsername: username,
  customerInfo: toCustomerInfo(summary, now),
});

const customerColumns: readonly Column<CustomerRecord>[] = [
  { title: 'CUSTOMER', value: ({ applicationUsername }) => applicationUsername, isWhole: true },
  { title: 'SUBSCRIBER', value: ({ customerInfo }) => describeSubscriber(customerInfo) },
  { title: 'LAST PURCHASE', value: ({ customerInfo }) => customerInfo.lastPurchaseId },
  { title: 'DATE', value: ({ customerInfo: { lastPurchaseDate: date } }) => date && toSeconds(date), isWhole: true },
];

interface ListOptions extends FilterOptions {
  readonly state?: SubscriberState;
  readonly entitlement?: string;
}

async function listAction(name: string, options: ListOptions, { width }: Output): Promise<CommandResult> {
  const { limit, skip, state, entitlement } = options;
  const hasFilter = isFiltered(options, state, entitlement);
  const app = await getStoredApp(getService(), name);
  const { name: appName } = app;
  const now = getService().now();
  if (hasFilter) {
    const filter = { ...toFilter(options), state, entitlement };
    const found = await readMatches(options, (page) =>
      searchCustomers(getService(), app, { filter, order: 'oldest', ...page }),
    );
    const matches = { ...found, rows: found.rows.map((row) => toCustomerRecord(row, now)) };
    return {
      data: matches,
      text: formatMatches(formatTable(customerColumns, matches.rows, width), matches, 'customer'),
    };
  }
  const { rows: listed, total } = await getCustomerPage(getService(), appName, { limit, skip, now });
  const rows = listed.map((row) => toCustomerRecord(row, now));
  const table = formatTable(customerColumns, rows, width);
  return {
    data: { paging: { skip, limit, total }, rows },
    text: formatPage(table, { skip, count: rows.length, total }, 'customer'),
  };
}
