import { Command } from 'commander';
import { resummarize } from '../lib/counting/resummarize.ts';
import { deps } from '../lib/deps.ts';

/** `customers resummarize`. */
export function customersCommands(): Command {
  const customers = new Command('customers').description('Customers of an application');
  customers
    .command('resummarize')
    .description('Works the summaries that GET /v3/customers shows out anew; reads all purchases of the application')
    .argument('<app>')
    .argument('[usernames...]', 'only these; all, where none is named')
    .action(async (app: string, usernames: string[]) => {
      const { seen, mended } = await resummarize(app, deps(), usernames);
      console.log(`${seen} customers, ${mended} summaries mended.`);
    });
  return customers;
}
