import { Command } from 'commander';
import { listAppNames } from '../lib/apps/app-list-table.ts';
import { reencryptSecrets } from '../lib/apps/reencrypt-secrets.ts';
import { reencryptTokenKeys } from '../lib/entitlements/token-key-table.ts';
import { sum } from '../lib/foundation/collections.ts';
import type { FailedItem } from '../lib/foundation/failed-items.ts';
import { reencryptRefreshTokens } from '../lib/purchases/reencrypt-refresh-tokens.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { formatFailedItems } from './format-failed-items.ts';
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
  const failed: FailedItem[] = [];
  for (const name of await listAppNames(getService())) {
    const reportProgress = (count: number) => progress(`${name}: ${formatCount(count, 'purchase')} checked`);
    const parts = [
      await reencryptSecrets(getService(), name),
      await reencryptTokenKeys(getService(), name),
      await reencryptRefreshTokens(getService(), name, reportProgress),
    ];
    const reencrypted = sum(parts.map((part) => part.reencrypted));
    failed.push(...parts.flatMap((part) => part.failed));
    if (reencrypted > 0) results.push({ app: name, reencrypted });
  }
  const total = sum(results.map(({ reencrypted }) => reencrypted));
  const lines = [
    formatTable(columns, results, width),
    `${formatCount(total, 'value')} re-encrypted.`,
    ...formatFailedItems(failed),
  ];
  return {
    data: { apps: results, reencrypted: total, failed },
    text: lines.filter(Boolean).join('\n'),
    ...(failed.length > 0 && { exitCode: exitCodes.failed }),
  };
}
