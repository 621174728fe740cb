import { Command } from 'commander';
import { deps } from '../lib/deps.ts';

/** `secrets reencrypt`. */
export function createSecretCommands(): Command {
  const secrets = new Command('secrets').description('What the table holds encrypted');
  secrets
    .command('reencrypt')
    .description('Encrypts everything under the first of the master keys; reads all purchases')
    .action(reencryptAction);
  return secrets;
}

async function reencryptAction(): Promise<void> {
  const { apps, purchases } = deps();
  let total = 0;
  for (const { name } of await apps.list()) {
    const found = (await apps.reencryptSecrets(name)) + (await purchases.reencryptRefreshTokens(name));
    if (found > 0) console.log(`${name}  ${found}`);
    total += found;
  }
  console.log(`${total} ${total === 1 ? 'text was' : 'texts were'} under another key than the first.`);
}
