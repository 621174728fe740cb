import { Command } from 'commander';
import type { EpochMillis } from '../lib/foundation/time.ts';
import { refreshAllPurchases } from '../lib/refresh/refresh-all-purchases.ts';
import { type RecoveryProgress, recoverSince } from '../lib/store-notifications/recover-notifications.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import { parseTime } from './option-parsers.ts';
import type { Output } from './output.ts';
import { addActionCommands } from './purchase-action-commands.ts';
import { addPurchaseReadCommands } from './purchase-read-commands.ts';

export function createPurchaseCommands(): Command {
  const purchases = new Command('purchases').description('Read, refresh and change the purchases of an app');
  addPurchaseReadCommands(purchases);
  addActionCommands(purchases);
  purchases
    .command('refresh')
    .description('Query the stores for all purchases of the app, for example after a restore')
    .argument('<app>')
    .addHelpText('after', formatExamples('purchases refresh my-app'))
    .action(printResult(refreshAction));
  return purchases;
}

export function createNotificationCommands(): Command {
  const notifications = new Command('notifications').description('Manage notifications of the stores');
  notifications
    .command('recover')
    .description('Request the notifications that the stores keep, also delivered ones, and process the unhandled ones')
    .argument('<app>')
    .requiredOption('--from <date>', 'time of the earliest notification, such as 2026-01-31T10:00:00Z', parseTime)
    .addHelpText('after', formatExamples('notifications recover my-app --from 2026-01-31T10:00:00Z'))
    .action(printResult(recoverAction));
  return notifications;
}

async function refreshAction(name: string, { progress }: Output): Promise<CommandResult> {
  const { refreshed, failed } = await refreshAllPurchases(getService(), name, (count) =>
    progress(`${formatCount(count, 'purchase')} processed`),
  );
  const failures =
    failed > 0 ? ` ${formatCount(failed, 'refresh', 'refreshes')} failed. Run the command again later.` : '';
  return {
    data: { app: name, refreshed, failed },
    text: `${formatCount(refreshed, 'purchase')} refreshed.${failures}`,
    ...(failed > 0 && { exitCode: exitCodes.failed }),
  };
}

const formatRecoveryProgress = ({ platform, finished, total }: RecoveryProgress): string =>
  total === undefined ? `${platform}: listing notifications` : `${platform}: ${finished} of ${total} notifications`;

async function recoverAction(
  name: string,
  { from }: { from: EpochMillis },
  { progress }: Output,
): Promise<CommandResult> {
  const onProgress = (state: RecoveryProgress): void => progress(formatRecoveryProgress(state));
  const recoveries = await recoverSince(getService(), name, { since: from, onProgress });
  const hasFailed = recoveries.some(({ failed, problem }) => failed > 0 || problem !== undefined);
  const lines = recoveries.map(
    ({ platform, processed, failed, problem }) =>
      `${platform}  ${problem ?? `${formatCount(processed, 'notification')} processed, ${failed} failed.`}`,
  );
  if (recoveries.length === 0) lines.push('0 notifications processed.');
  if (hasFailed) lines.push('Some notifications failed, or were not listed. Run the command again later.');
  return {
    data: { app: name, recoveries },
    text: lines.join('\n'),
    ...(hasFailed && { exitCode: exitCodes.failed }),
  };
}
