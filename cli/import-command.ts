import { existsSync, rmSync, statSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { platforms } from '../lib/foundation/platform.ts';
import { secondMs } from '../lib/foundation/time.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import { formatPosition } from './import/format-position.ts';
import type { ConversionReport } from './import/from/convert-export.ts';
import type { ProjectReport } from './import/from/convert-revenuecat-project.ts';
import { defaultRates, type StoreRates } from './import/rate-limiter.ts';
import type { ImportReport, ImportState } from './import/run-import.ts';
import { createNumberParser, findStore } from './option-parsers.ts';
import type { Output } from './output.ts';

/** Services whose exports are converted. The list of purchases of `iaptic` is a file of rows. */
const services = ['revenuecat', 'adapty', 'qonversion', 'iaptic'] as const;

interface Options {
  readonly from?: (typeof services)[number];
  readonly dryRun?: true;
  readonly project?: string;
  readonly apiUrl?: string;
  readonly apiRate?: number;
  readonly mute: boolean;
  readonly giveCredits: boolean;
  readonly resume?: true;
  readonly rate: StoreRates;
  readonly maxWait: number;
}

export function createImportCommand(): Command {
  const defaults = platforms.map((platform) => `${platform}=${defaultRates[platform]}`).join(', ');
  return new Command('import')
    .description('Import purchases from a file of a previous validator and query the stores for them')
    .argument('<app>')
    .argument(
      '<file>',
      'CSV with a header, or JSON lines (.jsonl); with --from revenuecat also a secret key of its API, or - for CLAIMCHECK_OTHER_KEY',
    )
    .option('--mute', 'no webhooks for the imported purchases', true)
    .option('--no-mute', 'webhooks for the imported purchases, as for validations')
    .option('--give-credits', 'the imported payments give the credits of the catalogue', false)
    .addOption(new Option('--from <service>', 'convert the export of a service to rows').choices(services))
    .option('--dry-run', 'with --from: write the rows and the list of what cannot be moved, and import nothing')
    .option('--project <id>', 'with a key of RevenueCat: its project (default: the only one)')
    .option('--api-url <url>', 'with a key of RevenueCat: base URL of the API (default: https://api.revenuecat.com/v2)')
    .option(
      '--api-rate <requests>',
      'with a key of RevenueCat: requests per second (default: 7; the limit is 8)',
      createNumberParser('requests', { min: 0.1, max: 1_000 }),
    )
    .option('--resume', 'continue an unfinished import of the file or of the key')
    .addOption(
      new Option('--rate <store=calls>', 'calls per second of a store; repeatable')
        .default(defaultRates, defaults)
        .argParser(parseRate),
    )
    .option(
      '--max-wait <seconds>',
      'time for retries of a row while its store is unavailable',
      createNumberParser('seconds', { min: 0, max: 86_400 }),
      600,
    )
    .addHelpText(
      'after',
      formatExamples(
        'import my-app purchases.csv',
        'import my-app purchases.csv --resume --rate store_b=50',
        'import my-app transactions.csv --from revenuecat --dry-run',
        'import my-app - --from revenuecat --dry-run',
      ),
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 all rows imported, 1 stopped (run again with --resume), 3 some rows refused.',
    )
    .action(printResult(importAction));
}

async function importAction(appName: string, path: string, options: Options, output: Output): Promise<CommandResult> {
  const { from } = options;
  // A resumed import reads its file again, so standard input is not enough.
  if (path === '-' && from !== 'revenuecat')
    throw new InvalidArgumentError(
      '- needs --from revenuecat: it is the key in CLAIMCHECK_OTHER_KEY. Pass the path of a file.',
    );
  const isExport = from !== undefined && from !== 'iaptic';
  if (options.dryRun && !isExport)
    throw new InvalidArgumentError(
      '--dry-run needs --from revenuecat, adapty or qonversion, whose export it converts. Other files are rows already.',
    );
  if (!isExport) return await importRows(appName, path, options, output);
  const apiKey = from === 'revenuecat' ? findApiKey(path) : undefined;
  const base = apiKey === undefined ? path : `revenuecat-${appName}`;
  const rowsFile = `${base}.rows.jsonl`;
  // The rows exist after the conversion, so the import of the rows continues.
  const isConverted = options.resume === true && existsSync(rowsFile);
  if (options.dryRun && isConverted)
    throw new InvalidArgumentError(`--dry-run has nothing left to do: ${rowsFile} exists. Omit it to import the rows.`);
  // After an interruption, the rows of an earlier conversion would be imported.
  if (!isConverted) rmSync(rowsFile, { force: true });
  const conversion = isConverted ? undefined : await convert(appName, { from, base, apiKey }, options, output);
  if (conversion && options.dryRun) return { data: conversion, text: describeConversion(conversion) };
  if (conversion) output.note(describeConversion(conversion));
  const rowOptions = conversion ? { ...options, resume: undefined } : options;
  // An export can have grants only.
  const isEmpty = statSync(rowsFile).size === 0;
  const result = isEmpty ? noRows : await importRows(appName, rowsFile, rowOptions as Options, output);
  const { importGrants } = await import('./import/from/import-grants.ts');
  const grants = await importGrants(`${base}.grants.jsonl`, { appName, from, service: getService() });
  return grants === 0 ? result : { ...result, text: `${result.text}\n${formatCount(grants, 'grant')} created.` };
}

const noRows: CommandResult = {
  data: { rows: 0, imported: 0, unchanged: 0, refused: 0 },
  text: '0 rows: 0 imported, 0 unchanged, 0 refused.',
};

/** Returns the key of an API. `-` is the key in the environment, which other users of the machine cannot read. */
function findApiKey(argument: string): string | undefined {
  if (argument !== '-') return /^sk_\w{8,}$/.test(argument) && !existsSync(argument) ? argument : undefined;
  const { CLAIMCHECK_OTHER_KEY: key } = process.env;
  if (!key) throw new InvalidArgumentError('Pass the key of RevenueCat as CLAIMCHECK_OTHER_KEY.');
  return key;
}

interface Source {
  readonly from: Exclude<(typeof services)[number], 'iaptic'>;
  /** Start of the names of the files. */
  readonly base: string;
  readonly apiKey: string | undefined;
}

async function convert(
  appName: string,
  { from, base, apiKey }: Source,
  { resume, project, apiUrl, apiRate, maxWait }: Options,
  output: Output,
): Promise<ConversionReport | ProjectReport> {
  if (apiKey === undefined) {
    const { convertExportOf } = await import('./import/from/convert-export-of.ts');
    return await convertExportOf(from, base, { appName, service: getService() });
  }
  const { convertRevenueCatProject } = await import('./import/from/convert-revenuecat-project.ts');
  return await convertRevenueCatProject({
    appName,
    project,
    key: apiKey,
    baseUrl: apiUrl,
    rate: apiRate,
    path: base,
    isResumed: resume === true,
    maxWaitMs: maxWait * secondMs,
    signal: output.listenForInterrupt(),
    onProgress: (customers) => output.progress(`${formatCount(customers, 'customer')} read`),
    service: getService(),
  });
}

function describeConversion(conversion: ConversionReport | ProjectReport): string {
  const { rows, rowsFile, unowned, unmoved, unmovedFile, grants, grantsFile } = conversion;
  return [
    `${formatCount(rows, 'purchase')} in ${rowsFile}, ${unowned} without a customer.`,
    ...(grants > 0 ? [`${formatCount(grants, 'grant')} in ${grantsFile}.`] : []),
    ...('products' in conversion
      ? [`${formatCount(conversion.products, 'product')} in ${conversion.catalogueFile}, for \`app set-catalogue\`.`]
      : []),
    ...(unmoved > 0 ? [`${formatCount(unmoved, 'purchase')} cannot be moved. The reasons are in ${unmovedFile}.`] : []),
  ].join('\n');
}

async function importRows(
  appName: string,
  path: string,
  { mute, giveCredits, resume, rate, maxWait }: Options,
  output: Output,
): Promise<CommandResult> {
  const startedAt = performance.now();
  const { runImport } = await import('./import/run-import.ts');
  const report = await runImport({
    appName,
    path,
    isUnannounced: mute,
    givesCredits: giveCredits,
    isResumed: resume === true,
    rates: rate,
    maxWaitMs: maxWait * secondMs,
    signal: output.listenForInterrupt(),
    onProgress: (state) => output.progress(formatProgress(state, { path, elapsedMs: performance.now() - startedAt })),
    service: getService(),
  });
  return {
    data: report,
    text: formatReport(report, path),
    exitCode: report.refused > 0 ? exitCodes.found : exitCodes.done,
  };
}

const formatReport = ({ rows, imported, unchanged, refused, refusedFile }: ImportReport, path: string): string =>
  `${formatCount(rows, 'row')}: ${imported} imported, ${unchanged} unchanged, ${refused} refused.` +
  (refusedFile === undefined
    ? ''
    : `\nThe refused rows and their reasons are in ${refusedFile}. Correct these lines in ${path} and import it again.`);

/** Estimates the remaining time from the bytes of the finished rows, because only a complete read counts the rows. */
function formatProgress(
  { rows, refused, resumedRows, bytesDone, resumedBytes }: ImportState,
  { path, elapsedMs }: { readonly path: string; readonly elapsedMs: number },
): string {
  const perSecond = ((rows - resumedRows) * secondMs) / elapsedMs;
  const { percent, remaining } = formatPosition({ path, bytesDone, resumedBytes, elapsedMs });
  return `${formatCount(rows, 'row')} done (${percent}), ${perSecond.toFixed(1)} per second, ${refused} refused${remaining}`;
}

function parseRate(text: string, rates: StoreRates): StoreRates {
  const [token = '', rate = ''] = text.split('=');
  const platform = findStore(token);
  if (!platform || !/^\d+(?:\.\d+)?$/.test(rate) || Number(rate) <= 0 || Number(rate) > 10_000)
    throw new InvalidArgumentError('Expected a store and its calls per second, such as store_b=50.');
  return { ...rates, [platform]: Number(rate) };
}
