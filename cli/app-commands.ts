import { Argument, Command } from 'commander';
import type { App } from '../lib/apps/app.ts';
import { listApps } from '../lib/apps/app-list-table.ts';
import { createApp, deleteApp, getApp, rotateApiKey } from '../lib/apps/manage-apps.ts';
import { rotateTokenKeys } from '../lib/entitlements/token-key.ts';
import { updateTokenKeys } from '../lib/entitlements/token-key-table.ts';
import { hourMs } from '../lib/foundation/time.ts';
import { addAlertCommand } from './alert-command.ts';
import { addAppSettingCommands } from './app-setting-commands.ts';
import { addWebhookCommands } from './app-webhook-commands.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { addCommissionRateCommands } from './commission-rate-commands.ts';
import { confirmName } from './confirm-name.ts';
import { formatExamples } from './examples.ts';
import { addExchangeRateCommands } from './exchange-rate-commands.ts';
import { formatDay, formatTime } from './format.ts';
import { formatFailedItems } from './format-failed-items.ts';
import { addForwardCommand } from './forward-command.ts';
import { getService } from './get-service.ts';
import { parseHours } from './option-parsers.ts';
import type { Output } from './output.ts';
import { showApp } from './show-app.ts';
import { addSettingsCommands } from './store-and-catalogue-commands.ts';
import { type Column, formatTable } from './table.ts';

/** `app create|list|show|delete|rotate-key|rotate-token-key` and the commands for settings and webhooks. */
export function createAppCommands(): Command {
  const app = new Command('app').description('Manage apps');
  app
    .command('create')
    .description('Create an app and show its API keys (shown once)')
    .argument('<name>')
    .addHelpText('after', formatExamples('app create my-app', '--json app create my-app > keys.json'))
    .action(printResult(createAction));
  app
    .command('list')
    .description('List the apps')
    .addHelpText('after', formatExamples('app list', '--json app list'))
    .action(printResult(listAction));
  app
    .command('show')
    .description('Show the settings of an app without secrets, and the notification URLs for its stores')
    .argument('<name>')
    .addHelpText('after', formatExamples('app show my-app', '--json app show my-app'))
    .action(printResult(async (name: string, { width }: Output) => await showApp(getService(), name, width)));
  app
    .command('delete')
    .description(
      'Delete an app: its keys become invalid, its refreshes and webhooks end, and its data stay in the table',
    )
    .argument('<name>')
    .option('--confirm <name>', 'name of the app, instead of the question')
    .addHelpText('after', formatExamples('app delete my-app', 'app delete my-app --confirm my-app'))
    .action(printResult(deleteAction));
  app
    .command('rotate-key')
    .description('Issue a new main API key; the current key stays valid for the overlap')
    .argument('<name>')
    .addArgument(new Argument('<level>').choices(['public', 'secret']))
    .option('--overlap-hours <hours>', 'validity of the current key', parseHours, 24)
    .addHelpText('after', formatExamples('app rotate-key my-app secret --overlap-hours 48'))
    .action(printResult(rotateKeyAction));
  addSettingsCommands(app);
  app
    .command('rotate-token-key')
    .description('Sign entitlement tokens with the next key; the current key stays published for the overlap')
    .argument('<name>')
    .option('--overlap-hours <hours>', 'time for which tokens of the current key stay valid', parseHours, 24)
    .addHelpText('after', formatExamples('app rotate-token-key my-app'))
    .action(printResult(rotateTokenKeyAction));
  addAppSettingCommands(app);
  addWebhookCommands(app);
  addForwardCommand(app);
  addAlertCommand(app);
  addCommissionRateCommands(app);
  addExchangeRateCommands(app);
  return app;
}

async function createAction(name: string): Promise<CommandResult> {
  const { appName, publicKey, secretKey } = await createApp(getService(), name, getService().now());
  return {
    data: { app: appName, publicKey, secretKey },
    text: `public key  ${publicKey}\nsecret key  ${secretKey}\nStore the secret key now. It is not shown again.`,
  };
}

const appColumns: readonly Column<App>[] = [
  { title: 'APP', value: ({ name }) => name, isWhole: true },
  { title: 'STRATEGY', value: ({ strategy }) => strategy },
  { title: 'VOCABULARY', value: ({ vocabulary }) => vocabulary },
  { title: 'CREATED', value: ({ createdAt }) => formatDay(createdAt) },
  { title: 'DELETED', value: ({ deletedAt }) => deletedAt && formatDay(deletedAt) },
];

async function listAction({ width }: Output): Promise<CommandResult> {
  const { apps, failed } = await listApps(getService());
  const data = apps.map(({ name, strategy, vocabulary, createdAt, deletedAt }) => ({
    app: name,
    strategy,
    vocabulary,
    createdAt: formatTime(createdAt),
    ...(deletedAt !== undefined && { deletedAt: formatTime(deletedAt) }),
  }));
  const none = failed.length > 0 ? '' : 'No apps. Run `app create` first.';
  const lines = [formatTable(appColumns, apps, width) || none, ...formatFailedItems(failed)];
  return {
    data,
    text: lines.filter(Boolean).join('\n'),
    ...(failed.length > 0 && { exitCode: exitCodes.failed }),
  };
}

async function deleteAction(name: string, { confirm }: { confirm?: string }): Promise<CommandResult> {
  await getApp(getService(), name);
  await confirmName(name, confirm, {
    question: `Delete ${name}? It will reject all requests, and its refreshes and webhooks will end. Type the name of the app:`,
    option: `--confirm ${name}`,
  });
  const { deletedAt = 0 } = await deleteApp(getService(), name, getService().now());
  return {
    data: { app: name, deletedAt: formatTime(deletedAt) },
    text: `${name} deleted. It takes effect within 15 seconds. Its purchases and settings stay in the table, and its name stays reserved.`,
  };
}

async function rotateKeyAction(
  name: string,
  level: 'public' | 'secret',
  { overlapHours }: { overlapHours: number },
): Promise<CommandResult> {
  const key = await rotateApiKey(getService(), name, {
    level,
    overlapMs: overlapHours * hourMs,
    now: getService().now(),
  });
  return {
    data: { app: name, level, key, overlapHours },
    text: `new ${level} key  ${key}\nThe current key stays valid for ${overlapHours} hours.`,
  };
}

async function rotateTokenKeyAction(name: string, { overlapHours }: { overlapHours: number }): Promise<CommandResult> {
  await getApp(getService(), name);
  const now = getService().now();
  const overlapMs = overlapHours * hourMs;
  const { keys } = await updateTokenKeys(getService(), name, (set) => rotateTokenKeys(set, { overlapMs, now }));
  const kid = keys[0]?.kid;
  return {
    data: { app: name, kid, overlapHours },
    text: `Tokens are signed with ${kid}. The former key stays published for ${overlapHours} hours.`,
  };
}
