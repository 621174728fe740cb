import { Command } from 'commander';
import { listApps } from '../lib/apps/app-table.ts';
import { reencryptSecrets } from '../lib/apps/reencrypt-secrets.ts';
import { reencryptTokenKeys } from '../lib/entitlements/token-key-table.ts';
import { reencryptRefreshTokens } from '../lib/purchases/reencrypt-refresh-tokens.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import type { Output } from './output.ts';
import { type Column, formatTable } from './table.ts';

export function createSecretCommands(): Command {
  const secrets = new Command('secrets').description('Manage encrypted values of the table');
  secrets
    .command('reencrypt')
    .description('Encrypt all values under the current master key (reads all purchases)')
    .addHelpText('after', formatExamples('secrets reencrypt'))
    .action(printResult(reencryptAction));
  return secrets;
}

interface ReencryptedApp {
  readonly app: string;
  /** Number of values that were encrypted under an earlier master key. */
  readonly reencrypted: number;
}

const columns: readonly Column<ReencryptedApp>[] = [
  { title: 'APP', value: ({ app }) => app, isWhole: true },
  { title: 'VALUES', value: ({ reencrypted }) => reencrypted, align: 'right' },
];

async function reencryptAction({ width, progress }: Output): Promise<CommandResult> {
  const results: ReencryptedApp[] = [];
  for (const { name } of await listApps(getService())) {
    const reportProgress = (count: number) => progress(`${name}: ${formatCount(count, 'purchase')} checked`);
    const reencrypted =
      (await reencryptSecrets(getService(), name)) +
      Number(await reencryptTokenKeys(getService(), name)) +
      (await reencryptRefreshTokens(getService(), name, reportProgress));
    if (reencrypted > 0) results.push({ app: name, reencrypted });
  }
  const total = results.reduce((sum, { reencrypted }) => sum + reencrypted, 0);
  const lines = [formatTable(columns, results, width), `${formatCount(total, 'value')} re-encrypted.`];
  return { data: { apps: results, reencrypted: total }, text: lines.filter(Boolean).join('\n') };
}
