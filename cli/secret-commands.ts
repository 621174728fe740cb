import { Command } from 'commander';
import { deps } from '../lib/deps.ts';

/** `secrets reencrypt`. */
export function createSecretCommands(): Command {
  const secrets = new Command('secrets').description('Manage encrypted values of the table');
  secrets
    .command('reencrypt')
    .description('Encrypt all values under the current master key (reads all purchases)')
    .action(reencryptAction);
  return secrets;
}

async function reencryptAction(): Promise<void> {
  const { apps, purchases } = deps();
  let total = 0;
  for (const { name } of await apps.list()) {
    const reencrypted = (await apps.reencryptSecrets(name)) + (await purchases.reencryptRefreshTokens(name));
    if (reencrypted > 0) console.log(`${name}  ${reencrypted}`);
    total += reencrypted;
  }
  console.log(`${total} values re-encrypted.`);
}
