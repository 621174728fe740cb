import { Command, Option, type OutputConfiguration } from 'commander';
import { createAppCommands } from './app-commands.ts';
import { getCommandPath } from './command-tree.ts';
import { createCompareCommand } from './compare-command.ts';
import { createCompletionCommand } from './completion/completion-command.ts';
import { connectToService, selectCredentials } from './connect.ts';
import { createCreditCommands } from './credit-commands.ts';
import { createCustomerCommands } from './customer-commands.ts';
import { createDoctorCommand } from './doctor/doctor-command.ts';
import { createGrantCommands, createWhyCommand } from './entitlement-commands.ts';
import { createEventCommands } from './event-commands.ts';
import { createExportCommand } from './export/export-command.ts';
import { loadService } from './get-service.ts';
import { createHelpCommand } from './help-command.ts';
import { createImportCommand } from './import-command.ts';
import { createKeyCommands } from './key-commands.ts';
import { createMcpCommand } from './mcp/mcp-command.ts';
import type { ProgramTerminal, Terminal } from './output.ts';
import { createPreflightCommand } from './preflight/preflight-command.ts';
import { createProveCommand } from './prove-command.ts';
import { createNotificationCommands, createPurchaseCommands } from './purchase-commands.ts';
import { readVersion } from './read-version.ts';
import { createRefundCommands } from './refund-commands.ts';
import { createSecretCommands } from './secret-commands.ts';
import { createStatsCommands } from './stats-commands.ts';
import { createStatusCommand } from './status-command.ts';
import { createTableCommands } from './table-commands.ts';
import { createTransactionCommands } from './transaction-commands.ts';
import { applyUsageRules } from './usage-rules.ts';
import { createWebhooksCommands } from './webhooks-commands.ts';

const commandGroups = [
  createStatusCommand,
  createDoctorCommand,
  createPreflightCommand,
  createAppCommands,
  createKeyCommands,
  createWebhooksCommands,
  createSecretCommands,
  createTableCommands,
  createStatsCommands,
  createCustomerCommands,
  createGrantCommands,
  createCreditCommands,
  createWhyCommand,
  createPurchaseCommands,
  createTransactionCommands,
  createRefundCommands,
  createNotificationCommands,
  createEventCommands,
  createImportCommand,
  createExportCommand,
  createCompareCommand,
  createMcpCommand,
  createProveCommand,
  createCompletionCommand,
  createHelpCommand,
];

/** Commands without a connection to the table of a service. */
export const offlineCommands: readonly string[] = ['completion', 'help', 'mcp', 'preflight'];

/**
 * Creates the program with all commands, which connect to the service before they run. It throws a `CommanderError`
 * instead of ending the process.
 */
export function createProgram(terminal: Terminal, connect = connectToService): Command {
  const program = new Command('claimcheck');
  program
    .description('Operate a Claimcheck service')
    .version(readVersion(), '-V, --version', 'print the version')
    .option('--json', 'print the result as JSON')
    .addOption(
      new Option('--local', 'the service that `npm start` runs on this machine').conflicts([
        'stack',
        'profile',
        'region',
      ]),
    )
    .option('--folder <path>', 'data folder of the local service', '.local')
    .option(
      '--stack <name>',
      'CloudFormation stack of the deployment, such as Claimcheck-production (default: CLAIMCHECK_STACK)',
    )
    .option('--profile <name>', 'AWS profile (default: AWS_PROFILE); for mcp, a profile of a viewer key')
    .option('--region <name>', 'AWS region (default: AWS_REGION, or the region of the profile)')
    .option('--table <name>', 'table, instead of the stack output TableName (default: TABLE_NAME)')
    .option('--master-key <id>', 'master key, instead of the stack output MasterKeyId (default: MASTER_KEY_ID)')
    .option(
      '--webhooks-queue <url>',
      'webhooks queue, instead of the stack output WebhooksQueueUrl (default: WEBHOOKS_QUEUE_URL)',
    )
    .hook('preAction', async (_program, command) => {
      const path = getCommandPath(command);
      if (path === 'preflight') selectCredentials(program.opts());
      if (offlineCommands.includes(path)) return;
      await loadService();
      await connect(program.opts());
    })
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      ...({ ...terminal, writeNote: terminal.writeErr } satisfies ProgramTerminal as OutputConfiguration),
      // An error with --json is one JSON document without help.
      writeErr: (text) => {
        if (!program.opts().json) terminal.writeErr(text);
      },
    });
  for (const createCommands of commandGroups) program.addCommand(inheritSettings(createCommands(), program));
  applyUsageRules(program);
  return program;
}

/** Copies the settings of output and errors, which added commands do not inherit from the program. */
function inheritSettings(command: Command, program: Command): Command {
  for (const inner of command.commands) inheritSettings(inner, program);
  return command.copyInheritedSettings(program);
}
