import type { Command } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import { type MergeResult, mergeCustomers, reverseMerge } from '../lib/customer-data/merge-customers.ts';
import { toMergeRecord } from '../lib/customer-data/to-merge-record.ts';
import type { Merge } from '../lib/customers/merge.ts';
import { listMerges } from '../lib/customers/merge-table.ts';
import { commandLineKey } from '../lib/entitlements/grant.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount, formatTime } from './format.ts';
import { getService } from './get-service.ts';
import type { Output } from './output.ts';
import { type Column, formatTable } from './table.ts';

export function addMergeCommands(customer: Command): void {
  customer
    .command('merge')
    .description('Move the purchases, aliases and grants of a customer to another one, for example after a sign-in')
    .argument('<app>')
    .argument('<from>', 'customer who loses them')
    .argument('<to>', 'customer who receives them')
    .addHelpText('after', formatExamples('customer merge my-app anonymous-5f0c8a1b alice'))
    .action(printResult(mergeAction));
  customer
    .command('merges')
    .description('List the merges of other customers into a customer')
    .argument('<app>')
    .argument('<user>')
    .addHelpText('after', formatExamples('customer merges my-app alice'))
    .action(printResult(listMergesAction));
  customer
    .command('unmerge')
    .description('Return what a merge has moved, from its log; what has changed since stays')
    .argument('<app>')
    .argument('<to>', 'customer who has received it')
    .argument('<id>', 'id of the merge')
    .addHelpText('after', formatExamples('customer unmerge my-app alice merge_5f0c8a1b9d3e4f6071829304'))
    .action(printResult(unmergeAction));
}

/** Repeats a bounded step until everything is moved, and sums up what the steps have moved. */
async function moveAll(run: () => Promise<MergeResult>, progress: Output['progress']): Promise<MergeResult> {
  let [purchases, grants] = [0, 0];
  for (;;) {
    const result = await run();
    purchases += result.purchases;
    grants += result.grants;
    if (result.isComplete) return { ...result, purchases, grants };
    progress(`${formatCount(purchases, 'purchase')} moved`);
  }
}

const formatMoved = ({ purchases, aliases, grants }: MergeResult): string =>
  `${formatCount(purchases, 'purchase')}, ${formatCount(aliases, 'user alias', 'user aliases')} and ${formatCount(grants, 'grant')} moved`;

async function mergeAction(appName: string, from: string, to: string, { progress }: Output): Promise<CommandResult> {
  const app = await getApp(getService(), appName);
  const input = { from, to, key: commandLineKey };
  const result = await moveAll(async () => await mergeCustomers(getService(), app, input), progress);
  return { data: { app: app.name, from, to, ...result }, text: `${formatMoved(result)} to ${to}.\n${result.mergeId}` };
}

async function unmergeAction(
  appName: string,
  to: string,
  mergeId: string,
  { progress }: Output,
): Promise<CommandResult> {
  const app = await getApp(getService(), appName);
  const input = { to, mergeId, key: commandLineKey };
  const result = await moveAll(async () => await reverseMerge(getService(), app, input), progress);
  return { data: { app: app.name, to, ...result }, text: `${formatMoved(result)} back.` };
}

const mergeColumns: readonly Column<Merge>[] = [
  { title: 'ID', value: ({ mergeId }) => mergeId, isWhole: true },
  { title: 'FROM', value: ({ from }) => from, isWhole: true },
  { title: 'DATE', value: ({ startedAt }) => formatTime(startedAt) },
  { title: 'BY', value: ({ mergedBy }) => mergedBy.name },
  {
    title: 'STATE',
    value: ({ completedAt, reversedAt }) =>
      reversedAt !== undefined ? 'reversed' : completedAt === undefined ? 'incomplete' : 'complete',
  },
];

async function listMergesAction(appName: string, user: string, { width }: Output): Promise<CommandResult> {
  const { name } = await getApp(getService(), appName);
  const merges = await listMerges(getService(), name, user);
  return {
    data: merges.map(toMergeRecord),
    text: formatTable(mergeColumns, merges, width) || `No customer was merged into ${user}.`,
  };
}
