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
  const deliveries = new Command('deliveries').description('Webhooks that were not delivered');
  deliveries
    .command('list')
    .description('Lists the deliveries that failed: those that wait for another attempt, and the dead')
    .argument('<app>')
    .addOption(new Option('--state <state>', 'only these').choices(['pending', 'dead']))
    .action(list);
  deliveries
    .command('replay')
    .description('Sends a dead delivery again, or all of them')
    .argument('<app>')
    .argument('[id]')
    .option('--dead', 'all that are dead')
    .action(replayAction);
  deliveries
    .command('backfill')
    .description(
      'Sends what was never announced of changes between two moments; reads the purchases that changed since',
    )
    .argument('<app>')
    .requiredOption('--from <date>', 'the first moment, such as 2026-01-31T10:00:00Z; at most 29 days ago')
    .option('--to <date>', 'the end; without it until now')
    .action(backfillAction);
  return deliveries;
}

async function list(appName: string, { state }: { state?: 'pending' | 'dead' }): Promise<void> {
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
    throw new ServiceError('InvalidPayload', 'Say which: the id of a delivery, or --dead for all that are dead.');
  const waiting = await replayDeliveries(appName, id, deps());
  console.log(`${waiting.length} on their way.`);
}

const Range = v.object({ from: DateOrDateTime, to: v.exactOptional(DateOrDateTime) });

async function backfillAction(appName: string, { from, to }: { from: string; to?: string }): Promise<void> {
  const range = { to: deps().now(), ...parse(Range, { from, ...(to !== undefined && { to }) }) };
  const { expected, created } = await backfillDeliveries(appName, range, deps());
  console.log(`${expected} webhooks; ${created} of them were missing and are on their way.`);
}
