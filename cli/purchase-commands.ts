import { Command } from 'commander';
import * as v from 'valibot';
import { DateOrDateTime } from '../lib/api/paging.ts';
import { deps } from '../lib/deps.ts';
import { refreshAllPurchases } from '../lib/refresh/refresh-all-purchases.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { parse } from '../lib/shared/parse.ts';
import { recoverSince } from '../lib/store-notifications/recover-notifications.ts';

/** `purchases refresh`. */
export function createPurchaseCommands(): Command {
  const purchases = new Command('purchases').description('Manage purchases of an app');
  purchases
    .command('refresh')
    .description('Query the stores for all purchases of the app, for example after a restore')
    .argument('<app>')
    .action(refreshAction);
  return purchases;
}

/** `notifications recover`. */
export function createNotificationCommands(): Command {
  const notifications = new Command('notifications').description('Manage notifications of the stores');
  notifications
    .command('recover')
    .description('Request the notifications that the stores keep, also delivered ones, and process the unhandled ones')
    .argument('<app>')
    .requiredOption('--from <date>', 'time of the earliest notification, such as 2026-01-31T10:00:00Z')
    .action(recoverAction);
  return notifications;
}

async function refreshAction(name: string): Promise<void> {
  console.log(`${await refreshAllPurchases(name, deps())} purchases refreshed.`);
}

const Range = v.object({ from: DateOrDateTime });

async function recoverAction(name: string, options: { from: string }): Promise<void> {
  const { from } = parse(Range, options);
  const recoveries = await recoverSince(name, from, deps());
  for (const { platform, processed, failed } of recoveries)
    console.log(`${platform}  ${processed} notifications processed, ${failed} failed.`);
  if (recoveries.length === 0) console.log('0 notifications processed.');
  if (recoveries.some(({ failed }) => failed > 0))
    throw new ServiceError('ConnectionFailed', 'Some notifications failed. Run the command again later.');
}
