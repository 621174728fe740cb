import { Command } from 'commander';
import { tableVersion } from '../lib/foundation/table-version.ts';
import { findTableVersion } from '../lib/migration/find-table-version.ts';
import { migrateTable } from '../lib/migration/migrate-table.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import type { Output } from './output.ts';

export function createTableCommands(): Command {
  const table = new Command('table').description('Show and convert the version of the stored data');
  table
    .command('show')
    .description('Show the version of the stored data and the version that this release writes')
    .addHelpText('after', formatExamples('table show'))
    .action(printResult(showAction));
  table
    .command('migrate')
    .description('Convert the stored data to the version of this release (reads all customers; can be repeated)')
    .addHelpText('after', formatExamples('table migrate'))
    .action(printResult(migrateAction));
  return table;
}

async function showAction(): Promise<CommandResult> {
  const { version, isMarked } = await findTableVersion(getService());
  const lines = [
    `The table has version ${version}${isMarked ? '' : ', which it does not store'}.`,
    `This release writes version ${tableVersion}.`,
  ];
  return {
    data: { version, isMarked, releaseVersion: tableVersion },
    text: lines.join('\n'),
    ...(version !== tableVersion && { exitCode: exitCodes.found }),
  };
}

async function migrateAction({ progress }: Output): Promise<CommandResult> {
  const { from, checked, converted } = await migrateTable(getService(), (count) =>
    progress(`${formatCount(count, 'customer')} checked`),
  );
  const text =
    from === tableVersion
      ? `The table has version ${tableVersion}. Nothing was converted.`
      : `The table has version ${tableVersion}, before ${from}: ${formatCount(checked, 'customer')} checked, ${converted} converted.`;
  return { data: { from, version: tableVersion, checked, converted }, text };
}
