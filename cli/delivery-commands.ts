import { Command, Option } from 'commander';
import * as v from 'valibot';
import { DateOrDateTime } from '../lib/api/paging.ts';
import { deps } from '../lib/deps.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { parse } from '../lib/shared/parse.ts';
import { backfillDeliveries } from '../lib/webhooks/backfill-deliveries.ts';
import type { WebhookDelivery } from '../lib/webhooks/delivery.ts';
import { listDeliveries, replayDeliveries } from '../lib/webhooks/manage-webhooks.ts';

/** `deliveries list|replay|backfill`. */
export function createDeliveryCommands(): Command {
  const deliveries = new Command('deliveries').description('Manage undelivered webhooks');
  deliveries
    .command('list')
    .description('List the pending and dead deliveries with failed attempts')
    .argument('<app>')
    .addOption(new Option('--state <state>', 'state of the listed deliveries').choices(['pending', 'dead']))
    .action(listAction);
  deliveries
    .command('replay')
    .description('Send a dead delivery again, or all dead deliveries')
    .argument('<app>')
    .argument('[id]')
    .option('--dead', 'all dead deliveries')
    .action(replayAction);
  deliveries
    .command('backfill')
    .description('Create the missing deliveries of a date range (reads the purchases that changed since)')
    .argument('<app>')
    .requiredOption('--from <date>', 'start of the range, such as 2026-01-31T10:00:00Z; at most 29 days ago')
    .option('--to <date>', 'end of the range; now by default')
    .action(backfillAction);
  return deliveries;
}

async function listAction(appName: string, { state }: { state?: 'pending' | 'dead' }): Promise<void> {
  for (const delivery of await listDeliveries(appName, state, deps())) console.log(formatDelivery(delivery));
}

const formatDelivery = ({
  deliveryId,
  state,
  failedAttempts,
  createdAt,
  username,
  notification,
  url,
  failureReason,
}: WebhookDelivery): string =>
  [
    deliveryId,
    state,
    `${failedAttempts} failed`,
    new Date(createdAt).toISOString(),
    notification.reason,
    username ?? '',
    url,
    failureReason ?? '',
  ].join('  ');

async function replayAction(appName: string, id: string | undefined, { dead }: { dead?: true }): Promise<void> {
  if ((id === undefined) === (dead === undefined))
    throw new ServiceError('InvalidPayload', 'Pass a delivery id, or --dead for all dead deliveries.');
  const replayed = await replayDeliveries(appName, id, deps());
  console.log(`${replayed.length} deliveries enqueued.`);
}

const Range = v.object({ from: DateOrDateTime, to: v.exactOptional(DateOrDateTime) });

async function backfillAction(appName: string, { from, to }: { from: string; to?: string }): Promise<void> {
  const range = { to: deps().now(), ...parse(Range, { from, ...(to !== undefined && { to }) }) };
  const { expected, created } = await backfillDeliveries(appName, range, deps());
  console.log(`${expected} deliveries expected, ${created} missing deliveries created.`);
}
