import { Command } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import { deps } from '../lib/deps.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { rebuildCustomerSummaries } from '../lib/statistics/rebuild-customer-summaries.ts';

/** `customers rebuild-links` and `rebuild-summaries`. */
export function createCustomerCommands(): Command {
  const customers = new Command('customers').description('Manage customers of an app');
  customers
    .command('rebuild-links')
    .description(
      'Rebuild the links from customers to their purchases and transactions (reads all purchases of the app)',
    )
    .argument('<app>')
    .action(rebuildLinksAction);
  customers
    .command('rebuild-summaries')
    .description('Rebuild the customer summaries of GET /v3/customers (reads all purchases of the app)')
    .argument('<app>')
    .argument('[usernames...]', 'customers to rebuild; all by default')
    .action(rebuildSummariesAction);
  return customers;
}

async function rebuildLinksAction(name: string): Promise<void> {
  const { name: appName } = await getApp(deps().apps, name);
  const { checkedPurchases, addedLinks, deletedLinks } = await deps().ownedPurchases.rebuildLinks(appName);
  console.log(`${checkedPurchases} purchases checked, ${addedLinks} links added, ${deletedLinks} stale links deleted.`);
}

async function rebuildSummariesAction(name: string, usernames: readonly string[]): Promise<void> {
  const { name: appName } = await getApp(deps().apps, name);
  const { checked, corrected, unknownUsernames } = await rebuildCustomerSummaries(appName, deps(), usernames);
  console.log(`${checked} customers checked, ${corrected} summaries corrected.`);
  if (unknownUsernames.length > 0)
    throw new ServiceError(
      'ResourceNotFound',
      `Customers of ${appName} are not found: ${unknownUsernames.join(', ')}.`,
    );
}
