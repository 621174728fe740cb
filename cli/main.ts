import { Command } from 'commander';
import { ServiceError } from '../lib/shared/errors.ts';
import { createAppCommands } from './app-commands.ts';
import { connectToService } from './connect.ts';
import { createCustomerCommands } from './customer-commands.ts';
import { createDeliveryCommands } from './delivery-commands.ts';
import { createSecretCommands } from './secret-commands.ts';
import { createStatsCommands } from './stats-commands.ts';

const program = new Command('claimcheck')
  .description("Operates Claimcheck: its applications, their keys and their stores' settings")
  .option('--local', 'work on the service that `npm start` runs here')
  .option('--folder <path>', 'where a local service keeps its files, when it announces another folder', '.local')
  .option('--table <name>', 'the table of the deployment (output TableName of the stack; default: TABLE_NAME)')
  .option('--master-key <id>', 'the secret of the deployment (output MasterKeyId of the stack; default: MASTER_KEY_ID)')
  .option('--webhooks-queue <url>', 'the queue of webhooks (output WebhooksQueueUrl; default: WEBHOOKS_QUEUE_URL)')
  .hook('preAction', async (command) => await connectToService(command.opts()))
  .showHelpAfterError();

for (const commands of [
  createAppCommands,
  createDeliveryCommands,
  createSecretCommands,
  createStatsCommands,
  createCustomerCommands,
]) {
  program.addCommand(showHelpOnError(commands()));
}

/** Shows how a command is used after a mistake in it; commands that are added do not take that over. */
function showHelpOnError(command: Command): Command {
  for (const inner of command.commands) showHelpOnError(inner);
  return command.showHelpAfterError();
}

try {
  await program.parseAsync();
} catch (thrown) {
  const { message } =
    thrown instanceof ServiceError ? thrown : new Error(String(thrown instanceof Error ? thrown.message : thrown));
  console.error(message);
  process.exitCode = 1;
}
