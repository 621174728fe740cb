import { Command } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import { rebuildPurchaseLinks } from '../lib/purchases/rebuild-purchase-links.ts';
import { rebuildCustomerSummaries } from '../lib/statistics/rebuild-customer-summaries.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { addCustomerDataCommands } from './customer-data-commands.ts';
import { addCustomerReadCommands } from './customer-read-commands.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { formatFailedItems } from './format-failed-items.ts';
import { getService } from './get-service.ts';
import { addMergeCommands } from './merge-commands.ts';
import type { Output } from './output.ts';

export function createCustomerCommands(): Command {
  const customer = new Command('customer').alias('customers').description('Read and manage the customers of an app');
  addCustomerReadCommands(customer);
  addCustomerDataCommands(customer);
  addMergeCommands(customer);
  customer
    .command('rebuild-links')
    .description(
      'Rebuild the links from customers to their purchases and transactions (reads all purchases of the app)',
    )
    .argument('<app>')
    .addHelpText('after', formatExamples('customer rebuild-links my-app'))
    .action(printResult(rebuildLinksAction));
  customer
    .command('rebuild-summaries')
    .description('Rebuild the customer summaries of GET /v3/customers (reads all purchases of the app)')
    .argument('<app>')
    .argument('[usernames...]', 'customers to rebuild; all by default')
    .addHelpText(
      'after',
      formatExamples('customer rebuild-summaries my-app', 'customer rebuild-summaries my-app alice bob'),
    )
    .action(printResult(rebuildSummariesAction));
  return customer;
}

async function rebuildLinksAction(name: string, { progress }: Output): Promise<CommandResult> {
  const { name: appName } = await getApp(getService(), name);
  const rebuilt = await rebuildPurchaseLinks(getService(), appName, (count) =>
    progress(`${formatCount(count, 'purchase')} checked`),
  );
  const { checkedPurchases, addedLinks, deletedLinks, failed } = rebuilt;
  const lines = [
    `${formatCount(checkedPurchases, 'purchase')} checked, ${formatCount(addedLinks, 'link')} added, ${formatCount(deletedLinks, 'stale link')} deleted.`,
    ...formatFailedItems(failed),
  ];
  return {
    data: { app: appName, ...rebuilt },
    text: lines.join('\n'),
    ...(failed.length > 0 && { exitCode: exitCodes.failed }),
  };
}

async function rebuildSummariesAction(
  name: string,
  usernames: readonly string[],
  { progress }: Output,
): Promise<CommandResult> {
  const { name: appName } = await getApp(getService(), name);
  const { checked, corrected, unknownUsernames, failed } = await rebuildCustomerSummaries(getService(), appName, {
    usernames,
    reportProgress: (count) => progress(`${formatCount(count, 'customer')} checked`),
  });
  const lines = [
    `${formatCount(checked, 'customer')} checked, ${formatCount(corrected, 'summary', 'summaries')} corrected.`,
    ...(unknownUsernames.length > 0 ? [`Customers of ${appName} are not found: ${unknownUsernames.join(', ')}.`] : []),
    ...formatFailedItems(failed),
  ];
  return {
    data: { app: appName, checked, corrected, unknownUsernames, failed },
    text: lines.join('\n'),
    ...(unknownUsernames.length + failed.length > 0 && { exitCode: exitCodes.failed }),
  };
}
