import { Argument, Command, Option } from 'commander';
import { type App, type CreditFloor, creditFloors, refundPolicies, type SandboxRule } from '../lib/apps/app.ts';
import { listApps } from '../lib/apps/app-table.ts';
import {
  createApp,
  deleteApp,
  getApp,
  rotateApiKey,
  setAccessRules,
  setCreditFloor,
  setReadEvents,
  setRefundPolicy,
  setRequestLimit,
  setSandboxRule,
  setStrategy,
  setSupportActions,
  setTokenMinutes,
  setVocabulary,
} from '../lib/apps/manage-apps.ts';
import { maxRequestsPerSecond, minRequestsPerSecond } from '../lib/apps/request-limits.ts';
import { type Strategy, strategies } from '../lib/apps/strategy.ts';
import { maxUnverifiedHours } from '../lib/apps/unverified-hours.ts';
import { rotateTokenKeys } from '../lib/entitlements/token-key.ts';
import { updateTokenKeys } from '../lib/entitlements/token-key-table.ts';

import { actionNames } from '../lib/foundation/action-names.ts';
import { hourMs } from '../lib/foundation/time.ts';
import { vocabularies } from '../lib/foundation/vocabulary.ts';
import { addAlertCommand } from './alert-command.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { addCommissionRateCommands } from './commission-rate-commands.ts';
import { confirmName } from './confirm-name.ts';
import { formatExamples } from './examples.ts';
import { addExchangeRateCommands } from './exchange-rate-commands.ts';
import { formatCount, formatDay, formatTime } from './format.ts';
import { addForwardCommand } from './forward-command.ts';
import { getService } from './get-service.ts';
import { createNumberParser, parseHours, parseTokenMinutes } from './option-parsers.ts';
import type { Output } from './output.ts';
import { addSettingsCommands } from './settings-commands.ts';
import { showApp } from './show-app.ts';
import { type Column, formatTable } from './table.ts';
import { addWebhookCommands } from './webhook-commands.ts';

/**
 * `app create|list|show|delete|rotate-key|rotate-token-key|set-strategy|set-sandbox-entitlements|set-token-minutes|
 * set-vocabulary|set-read-events|set-refund-policy|set-unverified-hours|set-request-limit|set-support-actions` and the
 * commands for settings and webhooks.
 */
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
    .action(
      printResult(
        async (name: string, _options: object, { width }: Output) => await showApp(getService(), name, width),
      ),
    );
  app
    .command('delete')
    .description(
      'Delete an app: its keys become invalid, its refreshes and webhooks end, and its data stay in the table',
    )
    .argument('<name>')
    .option('--confirm <name>', 'name of the app, in place of the question')
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
    .command('set-strategy')
    .description('Set the entitlement strategy of an app')
    .argument('<name>')
    .addArgument(new Argument('<strategy>').choices(strategies))
    .addHelpText('after', formatExamples('app set-strategy my-app last'))
    .action(printResult(setStrategyAction));
  app
    .command('set-sandbox-entitlements')
    .description("Set which purchases of the stores' sandboxes give entitlements (default: all)")
    .argument('<name>')
    .addArgument(new Argument('<rule>').choices(['all', 'listed', 'none']))
    .argument('[usernames...]', 'customers of the rule `listed`: testers and the reviewers of the stores')
    .addHelpText('after', formatExamples('app set-sandbox-entitlements my-app listed tester reviewer'))
    .action(printResult(setSandboxAction));
  app
    .command('set-token-minutes')
    .description('Set the validity of entitlement tokens, 5 to 1440 minutes (default: 60)')
    .argument('<name>')
    .argument('<minutes>', 'validity in minutes', parseTokenMinutes)
    .addHelpText('after', formatExamples('app set-token-minutes my-app 240'))
    .action(printResult(setTokenMinutesAction));
  app
    .command('set-credits')
    .description('Set how refunds take back credits that are spent')
    .argument('<name>')
    .addOption(
      new Option('--floor <floor>', 'lowest balance that a refund leaves (default: zero)')
        .choices(creditFloors)
        .makeOptionMandatory(),
    )
    .addHelpText('after', formatExamples('app set-credits my-app --floor debt'))
    .action(printResult(setCreditsAction));
  app
    .command('rotate-token-key')
    .description('Sign entitlement tokens with the next key; the current key stays published for the overlap')
    .argument('<name>')
    .option('--overlap-hours <hours>', 'time for which tokens of the current key stay valid', parseHours, 24)
    .addHelpText('after', formatExamples('app rotate-token-key my-app'))
    .action(printResult(rotateTokenKeyAction));
  app
    .command('set-vocabulary')
    .description('Set the vocabulary of webhooks and of responses to the secret key')
    .argument('<name>')
    .addArgument(new Argument('<vocabulary>').choices(vocabularies))
    .addHelpText('after', formatExamples('app set-vocabulary my-app brand'))
    .action(printResult(setVocabularyAction));
  app
    .command('set-read-events')
    .description('Set whether successful reads are recorded as events (default: on)')
    .argument('<name>')
    .addArgument(new Argument('<state>').choices(['on', 'off']))
    .addHelpText('after', formatExamples('app set-read-events my-app off'))
    .action(printResult(setReadEventsAction));
  app
    .command('set-refund-policy')
    .description('Set whether refund requests without a statement of the app get the prepared one (default: silent)')
    .argument('<name>')
    .addArgument(new Argument('<policy>').choices(refundPolicies))
    .addHelpText('after', formatExamples('app set-refund-policy my-app answer'))
    .action(printResult(setRefundPolicyAction));
  app
    .command('set-unverified-hours')
    .description('Set the hours of access after the expiration date while a renewal cannot be verified (default: 24)')
    .argument('<name>')
    .argument('<hours>', `0 to ${maxUnverifiedHours}`, parseUnverifiedHours)
    .addHelpText('after', formatExamples('app set-unverified-hours my-app 48'))
    .action(printResult(setUnverifiedHoursAction));
  app
    .command('set-request-limit')
    .description('Set the requests per second that each key can send for an unlimited time (default: 200)')
    .argument('<name>')
    .argument('<requests>', `${minRequestsPerSecond} to ${maxRequestsPerSecond}`, parseRequestLimit)
    .addHelpText('after', formatExamples('app set-request-limit my-app 500'))
    .action(printResult(setRequestLimitAction));
  app
    .command('set-support-actions')
    .description('Set the actions at the stores that support keys may perform (default: none)')
    .argument('<name>')
    .argument('<actions>', `none, all, or a list of ${actionNames.join(', ')}`, parseActions)
    .addHelpText('after', formatExamples('app set-support-actions my-app extend,cancel'))
    .action(printResult(setSupportActionsAction));
  addWebhookCommands(app);
  addForwardCommand(app);
  addAlertCommand(app);
  addCommissionRateCommands(app);
  addExchangeRateCommands(app);
  return app;
}

const parseUnverifiedHours = createNumberParser('hours', { min: 0, max: maxUnverifiedHours });
const parseRequestLimit = createNumberParser('requests', { min: minRequestsPerSecond, max: maxRequestsPerSecond });

function parseActions(text: string): readonly string[] {
  if (text === 'none') return [];
  return text === 'all' ? actionNames : text.split(',').map((name) => name.trim());
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

async function listAction(_options: object, { width }: Output): Promise<CommandResult> {
  const apps = await listApps(getService());
  const data = apps.map(({ name, strategy, vocabulary, createdAt, deletedAt }) => ({
    app: name,
    strategy,
    vocabulary,
    createdAt: formatTime(createdAt),
    ...(deletedAt !== undefined && { deletedAt: formatTime(deletedAt) }),
  }));
  return { data, text: formatTable(appColumns, apps, width) || 'No apps. Run `app create` first.' };
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

async function setStrategyAction(name: string, strategy: Strategy): Promise<CommandResult> {
  await setStrategy(getService(), name, strategy);
  return {
    data: { app: name, strategy },
    text: `${name}: strategy ${strategy}. Existing purchases change at their next update.`,
  };
}

async function setVocabularyAction(name: string, vocabulary: App['vocabulary']): Promise<CommandResult> {
  await setVocabulary(getService(), name, vocabulary);
  return {
    data: { app: name, vocabulary },
    text: `${name}: vocabulary ${vocabulary}. It takes effect within 15 seconds.`,
  };
}

async function setSandboxAction(
  name: string,
  rule: SandboxRule['rule'],
  usernames: readonly string[],
): Promise<CommandResult> {
  await setSandboxRule(getService(), name, rule === 'listed' ? { rule, usernames } : { rule });
  return {
    data: { app: name, sandboxEntitlements: rule, ...(rule === 'listed' && { sandboxUsers: usernames }) },
    text: `${name}: sandbox purchases give entitlements to ${rule === 'listed' ? usernames.join(', ') || 'nobody' : rule}. It takes effect within 15 seconds.`,
  };
}

async function setTokenMinutesAction(name: string, minutes: number): Promise<CommandResult> {
  await setTokenMinutes(getService(), name, minutes);
  return {
    data: { app: name, tokenMinutes: minutes },
    text: `${name}: entitlement tokens are valid for ${minutes} minutes. It takes effect within 15 seconds.`,
  };
}

async function setCreditsAction(name: string, { floor }: { floor: CreditFloor }): Promise<CommandResult> {
  await setCreditFloor(getService(), name, floor);
  const effect = floor === 'debt' ? 'take back spent credits, below zero' : 'take back what is left, not below zero';
  return {
    data: { app: name, creditFloor: floor },
    text: `${name}: refunds ${effect}. It takes effect within 15 seconds.`,
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

async function setReadEventsAction(name: string, state: 'on' | 'off'): Promise<CommandResult> {
  await setReadEvents(getService(), name, state === 'on');
  return {
    data: { app: name, readEvents: state },
    text: `${name}: events of successful reads ${state}. It takes effect within 15 seconds.`,
  };
}

async function setRefundPolicyAction(name: string, policy: (typeof refundPolicies)[number]): Promise<CommandResult> {
  await setRefundPolicy(getService(), name, policy);
  return {
    data: { app: name, refundPolicy: policy },
    text: `${name}: refund policy ${policy}. It takes effect within 15 seconds, also for open requests.`,
  };
}

async function setUnverifiedHoursAction(name: string, hours: number): Promise<CommandResult> {
  await setAccessRules(getService(), name, { unverifiedHours: hours });
  return {
    data: { app: name, unverifiedHours: hours },
    text: `${name}: ${formatCount(hours, 'hour')} of access while a renewal cannot be verified. Existing purchases change at their next update.`,
  };
}

async function setRequestLimitAction(name: string, requestsPerSecond: number): Promise<CommandResult> {
  await setRequestLimit(getService(), name, requestsPerSecond);
  return {
    data: { app: name, requestsPerSecond },
    text: `${name}: ${formatCount(requestsPerSecond, 'request')} per second of each key. It takes effect within 15 seconds.`,
  };
}

async function setSupportActionsAction(name: string, actions: readonly string[]): Promise<CommandResult> {
  const supportActions = await setSupportActions(getService(), name, actions);
  return {
    data: { app: name, supportActions },
    text: `Support keys of ${name} may perform: ${supportActions.join(', ') || 'no action'}.`,
  };
}
