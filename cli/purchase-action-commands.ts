import { randomUUID } from 'node:crypto';
import { Argument, type Command } from 'commander';
import type { PurchaseAction } from '../lib/actions/contract.ts';
import { listActions } from '../lib/actions/list-actions.ts';
import { runAction } from '../lib/actions/run-action.ts';
import { toActionRecord } from '../lib/actions/to-records.ts';
import { type ActionName, actionNames } from '../lib/api/schemas.ts';
import type { App } from '../lib/apps/app.ts';
import { getApp } from '../lib/apps/manage-apps.ts';
import { ServiceError } from '../lib/foundation/errors.ts';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import { toNeutralId } from '../lib/foundation/vocabulary.ts';
import { findPurchaseFacts, listTransactionsOfPurchases } from '../lib/purchases/purchase-table.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { confirmName } from './confirm-name.ts';
import { formatExamples } from './examples.ts';
import { getService } from './get-service.ts';
import { createNumberParser } from './option-parsers.ts';
import type { Output } from './output.ts';
import { recordCommand } from './record-command.ts';
import { type Column, formatTable } from './table.ts';

const idText = 'id of the purchase, such as store_a:2000000123456789 or apple:2000000123456789';
const maxMicros = 1_000_000_000_000;

export function addActionCommands(purchases: Command): void {
  purchases
    .command('actions')
    .description('List what is possible for a purchase at its store, and why the rest is not')
    .argument('<app>')
    .argument('<id>', idText)
    .addHelpText('after', formatExamples('purchases actions my-app store_b:abcdefgh.AO-J1O'))
    .action(printResult(listAction));
  purchases
    .command('act')
    .description('Refund, cancel, revoke, extend or finish a purchase at its store, or set its account')
    .argument('<app>')
    .argument('<id>', idText)
    .addArgument(new Argument('<action>').choices(actionNames))
    .requiredOption('--reason <text>', 'why, for the log of events')
    .option('--days <number>', 'days of an extension', createNumberParser('days', { min: 1, max: 366 }))
    .option('--transaction <id>', 'payment to refund (default: the latest one)')
    .option('--amount-micros <number>', 'part to refund', createNumberParser('micros', { min: 1, max: maxMicros }))
    .option('--quantity <number>', 'units to refund', createNumberParser('quantity', { min: 1, max: 1_000_000 }))
    .option('--account <text>', 'customer of set-account: the username, or its form at the store')
    .option('--idempotency-key <text>', 'the same key again returns the first outcome')
    .option('--dry-run', 'check the action without performing it')
    .option('--confirm <id>', 'the id again, instead of the question')
    .addHelpText(
      'after',
      formatExamples("purchases act my-app store_a:2000000123456789 extend --days 7 --reason 'Outage of Monday'"),
    )
    .action(printResult(actAction));
}

const columns: readonly Column<PurchaseAction>[] = [
  { title: 'ACTION', value: ({ action }) => action, isWhole: true },
  { title: 'POSSIBLE', value: ({ isPossible }) => (isPossible ? 'yes' : 'no') },
  { title: 'WHAT HAPPENS, OR WHY NOT', value: ({ effect, why }) => effect ?? why ?? '' },
];

async function listAction(name: string, id: string, { width }: Output): Promise<CommandResult> {
  const app = await getApp(getService(), name);
  const { purchaseId, rows } = await listRows(app, id);
  return { data: { purchaseId, rows }, text: formatTable(columns, rows, width) };
}

async function listRows(app: App, id: string) {
  const purchaseId = toNeutralId(id);
  const [facts, payments] = await Promise.all([
    findPurchaseFacts(getService(), app.name, purchaseId),
    listTransactionsOfPurchases(getService(), app.name, [purchaseId]),
  ]);
  if (!facts) throw new ServiceError('ResourceNotFound', `The purchase ${purchaseId} is not found.`);
  const options = { caller: { app, level: 'secret' as const }, now: getService().now() };
  return { purchaseId, facts, rows: listActions({ ...facts, payments }, options).map(toActionRecord) };
}

interface ActOptions {
  readonly reason: string;
  readonly days?: number;
  readonly transaction?: string;
  readonly amountMicros?: number;
  readonly quantity?: number;
  readonly account?: string;
  readonly idempotencyKey?: string;
  readonly dryRun?: boolean;
  readonly confirm?: string;
}

async function actAction(
  name: string,
  id: string,
  action: ActionName,
  { transaction, confirm, dryRun = false, idempotencyKey = randomUUID(), ...details }: ActOptions,
): Promise<CommandResult> {
  const app = await getApp(getService(), name);
  const { purchaseId, facts } = await listRows(app, id);
  if (!dryRun) {
    const customers = facts.entitledUsers.join(', ') || 'no customer';
    const question = `${action} of ${purchaseId}, owned by ${customers}. Type the id of the purchase to confirm:`;
    await confirmName(purchaseId, confirm && toNeutralId(confirm), { question, option: '--confirm <id>' });
  }
  const body = {
    ...details,
    action,
    dryRun,
    idempotencyKey,
    ...omitUndefined({ transactionId: transaction === undefined ? undefined : toNeutralId(transaction) }),
  };
  const result = await recordCommand(
    app,
    { type: 'purchase.acted', params: { purchaseId }, body },
    async ({ key, recorder }) => {
      recorder.addTag(purchaseId, '_P');
      return await runAction({ app, key, recorder, service: getService() }, purchaseId, body);
    },
  );
  const { effect, storeAnswer, isConfirmed } = result;
  const lines = [
    ...(dryRun ? ['Dry run: nothing was changed.'] : []),
    effect,
    ...(storeAnswer
      ? [`The store returned: ${storeAnswer.status}${storeAnswer.until ? `, until ${storeAnswer.until}` : ''}.`]
      : []),
    ...(isConfirmed === false ? ['The store does not show the effect yet. The next refresh reads it again.'] : []),
  ];
  return { data: { ...result, idempotencyKey }, text: lines.join('\n') };
}
