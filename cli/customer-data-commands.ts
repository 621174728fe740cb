import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { getStoredApp } from '../lib/apps/manage-apps.ts';
import { type ErasureCounts, eraseCustomer, eventSettleMs } from '../lib/customer-data/erase-customer.ts';
import { exportCustomer } from '../lib/customer-data/export-customer.ts';
import { listMerges } from '../lib/customers/merge-table.ts';
import { ServiceError } from '../lib/foundation/errors.ts';
import { secondMs } from '../lib/foundation/time.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { confirmName } from './confirm-name.ts';
import { describeFileError } from './describe-file-error.ts';
import { formatExamples } from './examples.ts';
import { eraseExports } from './export/erase-exports.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import { createNumberParser, parseUsername } from './option-parsers.ts';
import type { Output } from './output.ts';

export function addCustomerDataCommands(customer: Command): void {
  customer
    .command('export')
    .description('Write all data of a customer as one JSON document')
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .option('--output <file>', "file to write; standard output by default and for '-'")
    .addHelpText('after', formatExamples('customer export my-app ann@example.com --output ann.json'))
    .action(printResult(exportAction));
  customer
    .command('erase')
    .description('Erase a customer from all items of the app. Purchases, transactions and statistics stay, unnamed')
    .argument('<app>')
    .argument('<user>', 'applicationUsername of the customer', parseUsername)
    .option('--confirm <user>', 'name of the customer, instead of the confirmation at the terminal')
    .option(
      '--wait <seconds>',
      'time for requests in progress, after which the command searches again',
      createNumberParser('seconds', { min: 0, max: 3_600 }),
      eventSettleMs / secondMs,
    )
    .option(
      '--exports <folder>',
      'folder, or s3://bucket/prefix, of `export` whose files are rewritten without the customer, in addition to scheduled exports; repeatable',
      append,
    )
    .addHelpText(
      'after',
      formatExamples('customer erase my-app ann@example.com', '--json customer erase my-app ann --confirm ann'),
    )
    .action(printResult(eraseAction));
}

const append = (folder: string, folders: readonly string[] = []): string[] => [...folders, folder];

async function exportAction(
  appName: string,
  username: string,
  { output: path = '-' }: { output?: string },
  output: Output,
): Promise<CommandResult | undefined> {
  const file = path === '-' ? undefined : path;
  const app = await getStoredApp(getService(), appName);
  const counts: Record<string, number> = {};
  // On a terminal, the progress would be in the middle of the document.
  const isDocumentOnTerminal = file === undefined && output.width !== undefined;
  const chunks = exportCustomer(getService(), app, username, {
    onProgress: (section, count) => {
      counts[section] = count;
      if (!isDocumentOnTerminal) output.progress(`${count} ${section}`);
    },
    onEmpty: () => output.note(`${appName} has no data of ${username}. Check the name.`),
  });
  if (file === undefined) {
    // Not through `output`, which would need the whole document in memory.
    for await (const chunk of chunks) await writeToStandardOutput(chunk);
    return undefined;
  }
  await writeFileAtomically(file, chunks);
  const rows = Object.entries(counts).map(([section, count]) => `${count} ${section}`);
  return { data: { app: appName, file, ...counts }, text: `${file}: ${rows.join(', ')} exported.` };
}

/** Waits until the stream has accepted the text, so that a slow reader does not fill the memory. */
const writeToStandardOutput = async (text: string): Promise<void> =>
  await new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });

/**
 * Writes a file that is complete or absent. Only the operator can read it, because it contains personal data. Throws
 * `InvalidPayload` for a file that cannot be written, and the errors of the content unchanged.
 */
export async function writeFileAtomically(file: string, chunks: AsyncIterable<string>): Promise<void> {
  const partial = `${file}.partial`;
  try {
    await pipeline(Readable.from(chunks), createWriteStream(partial, { mode: 0o600 }));
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('InvalidPayload', `${file} ${describeFileError(error)}.`);
  }
}

async function eraseAction(
  appName: string,
  username: string,
  { confirm, wait: waitSeconds, exports: locations = [] }: { confirm?: string; wait: number; exports?: string[] },
  output: Output,
): Promise<CommandResult> {
  const app = await getStoredApp(getService(), appName);
  await confirmName(username, confirm, {
    question: `Erase ${username} from ${appName}? This cannot be undone. Type the name of the customer:`,
    option: '--confirm <user>',
  });
  const merged = (await listMerges(getService(), app.name, username)).map(({ from }) => from);
  if (merged.length > 0)
    output.note(
      `Customers who were merged into ${username} keep their own events. Erase them, too: ${merged.join(', ')}.`,
    );
  // Without a terminal, the command would be silent until its end.
  output.note(`The command searches again ${waitSeconds} s after it has removed data.`);
  let removedSoFar: ErasureCounts | undefined;
  const removed = await eraseCustomer(getService(), app, username, {
    wait: async (ms) => await new Promise((resolve) => setTimeout(resolve, ms)),
    waitMs: waitSeconds * secondMs,
    onProgress: output.progress,
    onRemoved: (counts) => {
      removedSoFar = counts;
    },
  }).catch((error: unknown) => {
    throw toPartialError(error, removedSoFar);
  });
  const files = await eraseExports(appName, username, { locations, output });
  const data = { app: appName, removed, ...(files !== undefined && { exportedFiles: files }) };
  return { data, text: formatCounts(removed) + formatExportedFiles(files) };
}

const formatExportedFiles = (files: number | undefined): string =>
  files === undefined ? '' : `\n${formatCount(files, 'exported file')} rewritten without the customer.`;

/** Adds to a failure what the erasure has removed: the operator must be able to prove it. */
export function toPartialError(error: unknown, removed: ErasureCounts | undefined): unknown {
  if (!removed || Object.values(removed).every((count) => count === 0)) return error;
  const { code, message, cause } = ServiceError.fromUnknown(error);
  return new ServiceError(code, `${message}\nRemoved until then:\n${formatCounts(removed)}`, {
    cause,
    data: { removed },
  });
}

const formats: Readonly<Record<keyof ErasureCounts, (count: number) => string>> = {
  purchases: (count) => `${formatCount(count, 'purchase')} without the customer now`,
  unclaimedPurchases: (count) => `${formatCount(count, 'unclaimed purchase')} without an alias of the customer now`,
  aliases: (count) => `${formatCount(count, 'user alias', 'user aliases')} deleted`,
  vaultReferences: (count) => `${formatCount(count, 'vault reference')} deleted`,
  accessTokens: (count) => `${formatCount(count, 'access token')} deleted`,
  deliveries: (count) => `${formatCount(count, 'webhook delivery', 'webhook deliveries')} deleted`,
  events: (count) => `${formatCount(count, 'event')} without the customer now`,
  customerItems: (count) => `${formatCount(count, 'item')} of the customer deleted`,
};

function formatCounts(removed: ErasureCounts): string {
  const kinds = Object.keys(formats) as (keyof ErasureCounts)[];
  const lines = kinds.filter((kind) => removed[kind] > 0).map((kind) => formats[kind](removed[kind]));
  return lines.length > 0 ? lines.join('\n') : 'No data of the customer was found.';
}
