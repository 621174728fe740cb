import { Command, InvalidArgumentError, Option } from 'commander';
import { describeReason } from '../lib/api/webhook-texts.ts';
import { getApp } from '../lib/apps/manage-apps.ts';
import { omitUndefined } from '../lib/foundation/omit-undefined.ts';
import type { EpochMillis } from '../lib/foundation/time.ts';
import { backfillDeliveries } from '../lib/webhooks/backfill-deliveries.ts';
import type { WebhookDelivery } from '../lib/webhooks/delivery.ts';
import { enqueueReplay, enqueueReplays } from '../lib/webhooks/enqueue-replays.ts';
import { listDeliveryPage } from '../lib/webhooks/list-deliveries.ts';
import { toDeliveryRecord } from '../lib/webhooks/to-delivery-record.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount, formatTime } from './format.ts';
import { getService } from './get-service.ts';
import { parseRowLimit, parseTime } from './option-parsers.ts';
import type { Output } from './output.ts';
import { createStreamFailuresCommands } from './stream-failures-commands.ts';
import { type Column, formatTable } from './table.ts';
import { tailAttempts } from './tail-attempts.ts';

export function createWebhooksCommands(): Command {
  const webhooks = new Command('webhooks').alias('deliveries').description('List and replay webhook deliveries');
  webhooks
    .command('list')
    .description('List webhook deliveries, newest first')
    .argument('<app>')
    .addOption(new Option('--state <state>', 'pending: waits for a retry').choices(listedStates))
    .option('--user <name>', 'deliveries of a customer')
    .option('--url <url>', 'only deliveries to this URL')
    .option('--from <date>', 'start of the range, such as 2026-01-31T10:00:00Z', parseTime)
    .option('--to <date>', 'end of the range', parseTime)
    .option('--limit <number>', 'maximum number of deliveries', parseRowLimit, 50)
    .addHelpText('after', formatExamples('webhooks list my-app --state dead', 'webhooks list my-app --user alice'))
    .action(printResult(listAction));
  webhooks
    .command('replay')
    .description('Send a delivery again, or all failed deliveries, or the deliveries of a date range and a state')
    .argument('<app>')
    .argument('[id]')
    .option('--failed', 'all deliveries that wait for a retry or are dead')
    .option('--dead', 'all dead deliveries')
    .option('--url <url>', 'only deliveries to this URL')
    .option('--from <date>', 'start of the range, such as 2026-01-31T10:00:00Z', parseTime)
    .option('--to <date>', 'end of the range; now by default', parseTime)
    .addOption(new Option('--state <state>', 'state in the range; dead by default').choices(replayedStates))
    .addHelpText(
      'after',
      formatExamples(
        'webhooks replay my-app --failed',
        'webhooks replay my-app --from 2026-01-31T10:00:00Z --to 2026-01-31T12:00:00Z --state delivered',
      ),
    )
    .action(printResult(replayAction));
  webhooks
    .command('tail')
    .description('Print the latest webhook attempts')
    .argument('<app>')
    .option('-f, --follow', 'print further attempts until Ctrl-C')
    .addHelpText('after', formatExamples('webhooks tail my-app --follow'))
    .action(printResult(tailAttempts));
  webhooks
    .command('backfill')
    .description('Create the missing deliveries of a date range (reads the purchases that changed since)')
    .argument('<app>')
    .requiredOption('--from <date>', 'start of the range, such as 2026-01-31T10:00:00Z; at most 29 days ago', parseTime)
    .option('--to <date>', 'end of the range; now by default', parseTime)
    .addHelpText(
      'after',
      formatExamples('webhooks backfill my-app --from 2026-01-31T10:00:00Z --to 2026-01-31T12:00:00Z'),
    )
    .action(printResult(backfillAction));
  webhooks.addCommand(createStreamFailuresCommands());
  return webhooks;
}

const replayedStates = ['pending', 'dead', 'delivered'] as const;
const listedStates = ['pending', 'delivered', 'dead', 'redirected'] as const;
interface ListOptions {
  readonly state?: (typeof listedStates)[number];
  readonly user?: string;
  readonly url?: string;
  readonly from?: EpochMillis;
  readonly to?: EpochMillis;
  readonly limit: number;
}

async function listAction(
  appName: string,
  { state, user, url, from, to, limit }: ListOptions,
  output: Output,
): Promise<CommandResult> {
  const { name } = await getApp(getService(), appName);
  const filters = { state, username: user, url, startdate: from, enddate: to };
  const deliveries: WebhookDelivery[] = [];
  let cursor: string | undefined;
  do {
    const page = await listDeliveryPage(getService(), name, { ...filters, limit: limit - deliveries.length, cursor });
    deliveries.push(...page.rows);
    cursor = page.next;
    output.progress(`${formatCount(deliveries.length, 'delivery', 'deliveries')} read`);
  } while (cursor !== undefined && deliveries.length < limit);
  const table = formatTable(deliveryColumns, deliveries, output.width) || 'No webhook deliveries.';
  const hint = cursor === undefined ? '' : `\nThere are further deliveries. Pass --limit or --to.`;
  return { data: deliveries.map(toDeliveryData), text: `${table}${hint}` };
}

const deliveryColumns: readonly Column<WebhookDelivery>[] = [
  { title: 'ID', value: ({ deliveryId }) => deliveryId, isWhole: true },
  { title: 'STATE', value: ({ state }) => state, isWhole: true },
  { title: 'FAILED', value: ({ failedAttempts }) => failedAttempts, align: 'right' },
  { title: 'CREATED', value: ({ createdAt }) => formatTime(createdAt) },
  { title: 'REASON', value: describeReason },
  { title: 'CUSTOMER', value: ({ username }) => username },
  { title: 'URL', value: ({ url }) => url },
  { title: 'FAILURE', value: ({ failureReason }) => failureReason },
];

/** The record of the API, with the id, the reason and the URL at the top level. */
const toDeliveryData = (delivery: WebhookDelivery): object =>
  omitUndefined({
    ...toDeliveryRecord(delivery),
    id: delivery.deliveryId,
    reason: delivery.notification.reason,
    url: delivery.url,
  });

interface ReplayOptions {
  readonly failed?: true;
  readonly dead?: true;
  readonly url?: string;
  readonly from?: EpochMillis;
  readonly to?: EpochMillis;
  readonly state?: (typeof replayedStates)[number];
}

async function replayAction(
  appName: string,
  id: string | undefined,
  options: ReplayOptions,
  output: Output,
): Promise<CommandResult> {
  const { failed, dead, url, from, to, state } = options;
  if ([id, failed, dead, from].filter((choice) => choice !== undefined).length !== 1)
    throw new InvalidArgumentError('Pass a delivery id, --failed, --dead, or --from with a date.');
  if (from === undefined && (to !== undefined || state !== undefined))
    throw new InvalidArgumentError('Pass --to and --state with --from only.');
  if (id !== undefined && url !== undefined) throw new InvalidArgumentError('Pass --url without a delivery id.');
  const { name } = await getApp(getService(), appName);
  if (id !== undefined) {
    await enqueueReplay(getService(), name, id);
    return { data: { app: name, replayed: 1 }, text: '1 delivery enqueued.' };
  }
  const range = { startdate: from ?? 0, enddate: to ?? getService().now(), url };
  let replayed = 0;
  for (const selected of failed ? (['pending', 'dead'] as const) : [state ?? 'dead'])
    for (let isComplete = false; !isComplete; ) {
      const batch = await enqueueReplays(getService(), name, { ...range, state: selected });
      replayed += batch.replayed;
      isComplete = batch.isComplete;
      output.progress(`${formatCount(replayed, 'delivery', 'deliveries')} enqueued`);
    }
  return { data: { app: name, replayed }, text: `${formatCount(replayed, 'delivery', 'deliveries')} enqueued.` };
}

interface BackfillOptions {
  readonly from: EpochMillis;
  readonly to?: EpochMillis;
}

async function backfillAction(
  appName: string,
  { from, to = getService().now() }: BackfillOptions,
  { progress }: Output,
): Promise<CommandResult> {
  const reportProgress = (count: number) => progress(`${formatCount(count, 'purchase')} checked`);
  const { expected, created } = await backfillDeliveries(getService(), appName, { from, to }, reportProgress);
  return {
    data: { app: appName, expected, created },
    text: `${formatCount(expected, 'delivery', 'deliveries')} expected, ${formatCount(created, 'missing delivery', 'missing deliveries')} created.`,
  };
}
