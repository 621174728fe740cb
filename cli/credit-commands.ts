import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import { give, take } from '../lib/credits/change-credits.ts';
import type { CreditEntryRecord } from '../lib/credits/contract.ts';
import type { CreditEntry } from '../lib/credits/credit-entry.ts';
import { findAccount, listEntries } from '../lib/credits/credit-table.ts';
import { toCreditChange, toCreditEntryRecord, toCreditRecords } from '../lib/credits/to-records.ts';
import { commandLineKey } from '../lib/entitlements/grant.ts';
import type { EpochMillis } from '../lib/foundation/time.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { toSeconds } from './format-records.ts';
import { getService } from './get-service.ts';
import { parseCreditAmount, parseCreditName, parseTime, parseUsername } from './option-parsers.ts';
import type { Output } from './output.ts';
import { type Column, formatTable } from './table.ts';

/** Latest changes that `credits show` prints: the largest page of the history. */
const maxChanges = 100;

export function createCreditCommands(): Command {
  const credits = new Command('credits').description('Read and change the credits of a customer');
  addCommand(credits, 'show')
    .description('Show the balances and the latest changes')
    .addHelpText('after', formatExamples('credits show my-app alice', '--json credits show my-app alice'))
    .action(printResult(showAction));
  addChangeCommand(credits, 'give')
    .description('Give a customer units without a payment')
    .option('--until <date>', 'end of the units; without an end by default', parseTime)
    .addHelpText('after', formatExamples("credits give my-app alice coins 100 --reason 'Outage of Monday'"))
    .action(printResult(giveAction));
  addChangeCommand(credits, 'take')
    .description('Take units from a customer, not below zero')
    .addHelpText('after', formatExamples("credits take my-app alice coins 20 --reason 'Given by mistake'"))
    .action(printResult(takeAction));
  return credits;
}

const addCommand = (credits: Command, name: string): Command =>
  credits
    .command(name)
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .option('--sandbox', 'the credits of purchases in the sandboxes');

const addChangeCommand = (credits: Command, name: string): Command =>
  addCommand(credits, name)
    .argument('<credit>', 'name of the credit, such as coins', parseCreditName)
    .argument('<amount>', 'number of units', parseCreditAmount)
    .requiredOption('--reason <text>', 'why, for the history')
    .option('--idempotency-key <text>', 'the same key again returns the first change');

interface AccountOptions {
  readonly sandbox?: true;
}

const columns: readonly Column<CreditEntryRecord>[] = [
  { title: 'DATE', value: ({ at }) => toSeconds(at), isWhole: true },
  { title: 'CHANGE', value: ({ type }) => type, isWhole: true },
  { title: 'CREDIT', value: ({ credit }) => credit },
  { title: 'UNITS', value: ({ amount }) => String(amount) },
  { title: 'BALANCE', value: ({ balance }) => String(balance) },
  { title: 'BY', value: ({ key, transactionId }) => key?.name ?? transactionId },
  { title: 'REASON', value: ({ reason }) => reason },
];

async function showAction(
  appName: string,
  user: string,
  { sandbox }: AccountOptions,
  { width }: Output,
): Promise<CommandResult> {
  const { name } = await getApp(getService(), appName);
  const id = { username: user, isSandbox: sandbox === true };
  const [account, { rows }] = await Promise.all([
    findAccount(getService(), name, id),
    listEntries(getService(), name, { ...id, limit: maxChanges }),
  ]);
  const credits = toCreditRecords(account, getService().now());
  const history = rows.map(toCreditEntryRecord);
  const balances = Object.entries(credits).map(
    ([credit, { balance, granted, spent, takenBack, expired }]) =>
      `${credit}: ${balance} (${granted} given, ${spent} spent or held, ${takenBack} taken back, ${expired} expired)`,
  );
  const text = [...balances, '', formatTable(columns, history, width)].join('\n').trim();
  return {
    data: { applicationUsername: user, isSandbox: id.isSandbox, credits, history },
    text: text || `${user} has no credits.`,
  };
}

interface ChangeOptions extends AccountOptions {
  readonly reason: string;
  readonly idempotencyKey?: string;
  readonly until?: EpochMillis;
}

async function giveAction(
  appName: string,
  user: string,
  credit: string,
  amount: number,
  { until, ...options }: ChangeOptions,
): Promise<CommandResult> {
  const { request, context } = await openChange(appName, user, { credit, amount }, options);
  return toResult(await give(getService(), { ...request, until }, context));
}

async function takeAction(
  appName: string,
  user: string,
  credit: string,
  amount: number,
  options: ChangeOptions,
): Promise<CommandResult> {
  const { request, context } = await openChange(appName, user, { credit, amount }, options);
  return toResult(await take(getService(), request, context));
}

async function openChange(
  appName: string,
  username: string,
  units: { readonly credit: string; readonly amount: number },
  { reason, idempotencyKey = randomUUID(), sandbox }: ChangeOptions,
) {
  const { name } = await getApp(getService(), appName);
  return {
    request: { ...units, reason, idempotencyKey },
    context: { appName: name, username, isSandbox: sandbox === true, key: commandLineKey },
  };
}

const toResult = (entry: CreditEntry): CommandResult => ({
  data: toCreditChange(entry),
  text: `${entry.username}: ${entry.amount} ${entry.credit} ${entry.type}, the balance is ${entry.balance}.`,
});
