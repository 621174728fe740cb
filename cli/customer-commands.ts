import { Command } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import { deps } from '../lib/deps.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { rebuildCustomerSummaries } from '../lib/statistics/rebuild-customer-summaries.ts';

/** `customers rebuild-summaries`. */
export function createCustomerCommands(): Command {
  const customers = new Command('customers').description('Customers of an application');
  customers
    .command('rebuild-summaries')
    .description('Works the summaries that GET /v3/customers shows out anew; reads all purchases of the application')
    .argument('<app>')
    .argument('[usernames...]', 'only these; all, where none is named')
    .action(rebuildSummariesAction);
  return customers;
}

async function rebuildSummariesAction(name: string, usernames: readonly string[]): Promise<void> {
  const { name: appName } = await getApp(deps().apps, name);
  const { checked, corrected, unknownUsernames } = await rebuildCustomerSummaries(appName, deps(), usernames);
  console.log(`${checked} customers, ${corrected} summaries mended.`);
  if (unknownUsernames.length > 0)
    throw new ServiceError('ResourceNotFound', `${appName} has no customer named ${unknownUsernames.join(', ')}.`);
}
