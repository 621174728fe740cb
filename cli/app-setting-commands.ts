import { Argument, type Command, Option } from 'commander';
import { maxRequestsPerSecond, minRequestsPerSecond } from '../lib/api/limits.ts';
import { actionNames } from '../lib/api/schemas.ts';
import {
  type App,
  type AppSettings,
  type CreditFloor,
  creditFloors,
  maxUnverifiedHours,
  refundPolicies,
  type SandboxRule,
  type Strategy,
  strategies,
} from '../lib/apps/app.ts';
import { changeSettings } from '../lib/apps/manage-apps.ts';
import { vocabularies } from '../lib/foundation/vocabulary.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import { createNumberParser, parseTokenMinutes } from './option-parsers.ts';

/** A command that changes one setting of an app. */
interface SettingCommand {
  readonly name: string;
  readonly description: string;
  /** After the name of the app. */
  readonly arguments: readonly (Argument | Option)[];
  readonly example: string;
  /** Receives the parsed arguments, then the options. */
  readonly read: (...values: never[]) => SettingChange;
}

interface SettingChange {
  readonly settings: AppSettings;
  /** What `--json` shows instead of the settings. */
  readonly shown?: object;
  /** What the setting does now. */
  readonly effect: string;
}

const soon = 'It takes effect within 15 seconds.';
const atNextUpdate = 'Existing purchases change at their next update.';

function parseActions(text: string): readonly string[] {
  if (text === 'none') return [];
  return text === 'all' ? actionNames : text.split(',').map((name) => name.trim());
}

const commands: readonly SettingCommand[] = [
  {
    name: 'set-strategy',
    description: 'Set the entitlement strategy of an app',
    arguments: [new Argument('<strategy>').choices(strategies)],
    example: 'last',
    read: (strategy: Strategy) => ({ settings: { strategy }, effect: `strategy ${strategy}. ${atNextUpdate}` }),
  },
  {
    name: 'set-sandbox-entitlements',
    description: "Set which purchases of the stores' sandboxes give entitlements (default: all)",
    arguments: [
      new Argument('<rule>').choices(['all', 'listed', 'none']),
      new Argument('[usernames...]', 'customers of the rule `listed`: testers and the reviewers of the stores'),
    ],
    example: 'listed tester reviewer',
    read: (rule: SandboxRule['rule'], usernames: string[]) => {
      const users = rule === 'listed' ? usernames.join(', ') || 'nobody' : rule;
      return {
        settings: { sandboxRule: rule === 'listed' ? { rule, usernames } : { rule } },
        shown: { sandboxEntitlements: rule, ...(rule === 'listed' && { sandboxUsers: usernames }) },
        effect: `sandbox purchases give entitlements to ${users}. ${soon}`,
      };
    },
  },
  {
    name: 'set-token-minutes',
    description: 'Set the validity of entitlement tokens, 5 to 1440 minutes (default: 60)',
    arguments: [new Argument('<minutes>', 'validity in minutes').argParser(parseTokenMinutes)],
    example: '240',
    read: (tokenMinutes: number) => ({
      settings: { tokenMinutes },
      effect: `entitlement tokens are valid for ${tokenMinutes} minutes. ${soon}`,
    }),
  },
  {
    name: 'set-credits',
    description: 'Set how refunds take back credits that are spent',
    arguments: [
      new Option('--floor <floor>', 'lowest balance that a refund leaves (default: zero)')
        .choices(creditFloors)
        .makeOptionMandatory(),
    ],
    example: '--floor debt',
    read: ({ floor: creditFloor }: { floor: CreditFloor }) => ({
      settings: { creditFloor },
      effect: `refunds take back ${creditFloor === 'debt' ? 'spent credits, below' : 'what is left, not below'} zero. ${soon}`,
    }),
  },
  {
    name: 'set-vocabulary',
    description: 'Set the vocabulary of webhooks and of responses to the secret key',
    arguments: [new Argument('<vocabulary>').choices(vocabularies)],
    example: 'brand',
    read: (vocabulary: App['vocabulary']) => ({
      settings: { vocabulary },
      effect: `vocabulary ${vocabulary}. ${soon}`,
    }),
  },
  {
    name: 'set-read-events',
    description: 'Set whether successful reads are recorded as events (default: on)',
    arguments: [new Argument('<state>').choices(['on', 'off'])],
    example: 'off',
    read: (readEvents: 'on' | 'off') => ({
      settings: { recordsReads: readEvents === 'on' },
      shown: { readEvents },
      effect: `events of successful reads ${readEvents}. ${soon}`,
    }),
  },
  {
    name: 'set-refund-policy',
    description: 'Set whether refund requests without a statement of the app get the prepared one (default: silent)',
    arguments: [new Argument('<policy>').choices(refundPolicies)],
    example: 'answer',
    read: (refundPolicy: (typeof refundPolicies)[number]) => ({
      settings: { refundPolicy },
      effect: `refund policy ${refundPolicy}. It takes effect within 15 seconds, also for open requests.`,
    }),
  },
  {
    name: 'set-unverified-hours',
    description: 'Set the hours of access after the expiration date while a renewal cannot be verified (default: 24)',
    arguments: [
      new Argument('<hours>', `0 to ${maxUnverifiedHours}`).argParser(
        createNumberParser('hours', { min: 0, max: maxUnverifiedHours }),
      ),
    ],
    example: '48',
    read: (unverifiedHours: number) => ({
      settings: { unverifiedHours },
      effect: `${formatCount(unverifiedHours, 'hour')} of access while a renewal cannot be verified. ${atNextUpdate}`,
    }),
  },
  {
    name: 'set-request-limit',
    description: 'Set the requests per second that each key can send for an unlimited time (default: 200)',
    arguments: [
      new Argument('<requests>', `${minRequestsPerSecond} to ${maxRequestsPerSecond}`).argParser(
        createNumberParser('requests', { min: minRequestsPerSecond, max: maxRequestsPerSecond }),
      ),
    ],
    example: '500',
    read: (requestsPerSecond: number) => ({
      settings: { requestsPerSecond },
      effect: `${formatCount(requestsPerSecond, 'request')} per second of each key. ${soon}`,
    }),
  },
  {
    name: 'set-support-actions',
    description: 'Set the actions at the stores that support keys may perform (default: none)',
    arguments: [new Argument('<actions>', `none, all, or a list of ${actionNames.join(', ')}`).argParser(parseActions)],
    example: 'extend,cancel',
    read: (supportActions: NonNullable<AppSettings['supportActions']>) => ({
      settings: { supportActions },
      effect: `support keys may perform ${supportActions.join(', ') || 'no action'}.`,
    }),
  },
];

/** Adds the commands that change one setting to the commands of `app`. */
export function addAppSettingCommands(app: Command): void {
  for (const { name, description, arguments: values, example, read } of commands) {
    const command = app.command(name).description(description).argument('<name>');
    for (const value of values) {
      if (value instanceof Option) command.addOption(value);
      else command.addArgument(value);
    }
    command
      .addHelpText('after', formatExamples(`app ${name} my-app ${example}`))
      .action(
        printResult(
          async (appName: string, ...parsed: unknown[]) => await change(appName, read(...(parsed as never[]))),
        ),
      );
  }
}

async function change(appName: string, { settings, shown = settings, effect }: SettingChange): Promise<CommandResult> {
  await changeSettings(getService(), appName, settings);
  return { data: { app: appName, ...shown }, text: `${appName}: ${effect}` };
}
