import { Command } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import { rebuildCustomerSummaries } from '../lib/statistics/rebuild-customer-summaries.ts';
import { deps } from '../lib/deps.ts';
import { ServiceError } from '../lib/shared/errors.ts';

/** `customers resummarize`. */
export function createCustomerCommands(): Command {
  const customers = new Command('customers').description('Customers of an application');
  customers
    .command('resummarize')
    .description('Works the summaries that GET /v3/customers shows out anew; reads all purchases of the application')
    .argument('<app>')
    .argument('[usernames...]', 'only these; all, where none is named')
    .action(rebuildSummariesAction);
  return customers;
}

async function rebuildSummariesAction(name: string, usernames: readonly string[]): Promise<void> {
  const { name: app } = await getApp(deps().apps, name);
  const {
    checked: seen,
    corrected: mended,
    unknownUsernames: unknown,
  } = await rebuildCustomerSummaries(app, deps(), usernames);
  console.log(`${seen} customers, ${mended} summaries mended.`);
  if (unknown.length > 0)
    throw new ServiceError('ResourceNotFound', `${app} has no customer named ${unknown.join(', ')}.`);
}
