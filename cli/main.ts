import '../lib/shared/disable-node-version-warning.ts';
import { Command } from 'commander';
import { createAppCommands } from './app-commands.ts';
import { connectToService } from './connect.ts';
import { createCustomerCommands } from './customer-commands.ts';
import { createDeliveryCommands } from './delivery-commands.ts';
import { createNotificationCommands, createPurchaseCommands } from './purchase-commands.ts';
import { createSecretCommands } from './secret-commands.ts';
import { createStatsCommands } from './stats-commands.ts';

const program = new Command('claimcheck')
  .description('Operate a Claimcheck service')
  .option('--local', 'the service that `npm start` runs on this machine')
  .option('--folder <path>', 'data folder of the local service', '.local')
  .option('--table <name>', 'table of the deployment (stack output TableName; default: TABLE_NAME)')
  .option('--master-key <id>', 'master key of the deployment (stack output MasterKeyId; default: MASTER_KEY_ID)')
  .option(
    '--webhooks-queue <url>',
    'webhooks queue of the deployment (stack output WebhooksQueueUrl; default: WEBHOOKS_QUEUE_URL)',
  )
  .hook('preAction', async (command) => await connectToService(command.opts()))
  .showHelpAfterError();

for (const commands of [
  createAppCommands,
  createDeliveryCommands,
  createSecretCommands,
  createStatsCommands,
  createCustomerCommands,
  createPurchaseCommands,
  createNotificationCommands,
]) {
  program.addCommand(showHelpOnError(commands()));
}

/** Shows the help after an error. Added commands do not inherit this setting from the program. */
function showHelpOnError(command: Command): Command {
  for (const inner of command.commands) showHelpOnError(inner);
  return command.showHelpAfterError();
}

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
