import { Command, InvalidArgumentError, Option } from 'commander';
import { secondMs } from '../lib/foundation/time.ts';
import { type Vocabulary, vocabularies } from '../lib/foundation/vocabulary.ts';
import { selectErasedNames } from '../lib/purchases/erased-name-table.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { isProof } from './compare/is-proof.ts';
import type { CompareProgress, CompareReport, RowDifference } from './compare/run-compare.ts';
import { createValidator, type Validator } from './compare/validator.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import { formatPosition } from './import/format-position.ts';
import { createNumberParser } from './option-parsers.ts';
import type { Output } from './output.ts';
import { requireOwnUrl, withTemporaryKey } from './own-service.ts';
import { type Column, formatTable } from './table.ts';

interface Options {
  readonly with: string;
  readonly project?: string;
  readonly apiUrl?: string;
  readonly app?: string;
  readonly key?: string;
  readonly url?: string;
  readonly users?: true;
  readonly claims: boolean;
  readonly vocabulary: Vocabulary;
  readonly tolerance: number;
  readonly rate: number;
  readonly maxWait: number;
}

export function createCompareCommand(): Command {
  return new Command('compare')
    .description('Compare what this service and another validator report as owned')
    .argument('<app>')
    .argument('<file>', 'bodies of POST /v1/validate (.jsonl), or the rows of an import (.csv or .jsonl)')
    .requiredOption(
      '--with <validator>',
      'base URL of the other validator, or iaptic, or revenuecat with --users',
      parseValidator,
    )
    .option('--project <id>', 'with revenuecat: the project of the key (default: the only one)')
    .option(
      '--api-url <url>',
      'with revenuecat: base URL of its API (default: https://api.revenuecat.com/v2)',
      parseUrl,
    )
    .option('--app <name>', 'app at the other validator (default: the same name)')
    .addOption(
      new Option('--key <key>', 'key at the other validator: public, or secret with --users').env(
        'CLAIMCHECK_OTHER_KEY',
      ),
    )
    .addOption(
      new Option(
        '--url <url>',
        'base URL of this service (stack output ApiUrl; default: API_URL, or the local service)',
      ).argParser(parseUrl),
    )
    .option('--users', 'compare the purchases of the users in the file instead of validations')
    .option('--no-claims', 'omit the users of the validations, so that nobody claims a purchase')
    .addOption(
      new Option('--vocabulary <vocabulary>', 'transaction types of validations that are built from rows of an import')
        .choices(vocabularies)
        .default('neutral'),
    )
    .option(
      '--tolerance <seconds>',
      'difference of dates that counts as equal',
      createNumberParser('seconds', { min: 0, max: 86_400 }),
      60,
    )
    .option('--rate <rows>', 'rows per second', createNumberParser('rows', { min: 0.01, max: 1_000 }), 10)
    .option(
      '--max-wait <seconds>',
      'time for retries of a row',
      createNumberParser('seconds', { min: 0, max: 86_400 }),
      60,
    )
    .addHelpText(
      'after',
      formatExamples(
        'compare my-app bodies.jsonl --with https://validator.example.com',
        'compare my-app purchases.jsonl --users --with https://validator.example.com --app old-name',
      ),
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 all rows compared without a difference, 1 rows are not compared or interrupted, 3 differences.',
    )
    .action(printResult(compareAction));
}

async function compareAction(appName: string, path: string, options: Options, output: Output): Promise<CommandResult> {
  const key = options.key ?? '';
  if (key === '')
    throw new InvalidArgumentError('Pass the key of the other validator as CLAIMCHECK_OTHER_KEY or --key.');
  const signal = output.listenForInterrupt();
  const maxWaitMs = options.maxWait * secondMs;
  const url = requireOwnUrl(options.url);
  if (options.with === revenuecat && !options.users)
    throw new InvalidArgumentError('Pass --users: RevenueCat is compared by customers.');
  const there =
    options.with === revenuecat
      ? await connectRevenueCat({ key, maxWaitMs, signal }, options)
      : createValidator({
          title: 'The other validator',
          url: options.with,
          appName: options.app ?? appName,
          key,
          maxWaitMs,
          signal,
        });
  const level = options.users ? 'viewer' : 'public';
  const startedAt = performance.now();
  const report = await withTemporaryKey({ appName, level, prefix: 'compare', signal }, async (ownKey) => {
    const { runCompare } = await import('./compare/run-compare.ts');
    return await runCompare({
      path,
      here: createValidator({ title: 'This service', url, appName, key: ownKey, maxWaitMs, signal }),
      there,
      comparesUsers: options.users === true,
      vocabulary: options.vocabulary,
      includesUser: options.claims,
      isErased: async (username) => (await selectErasedNames(getService(), appName, [username])).length > 0,
      toleranceMs: options.tolerance * secondMs,
      rate: options.rate,
      signal,
      onProgress: (progress) =>
        output.progress(formatProgress(progress, { path, elapsedMs: performance.now() - startedAt })),
    });
  });
  return {
    data: report,
    text: formatReport(report, output.width),
    exitCode: getExitCode(report),
  };
}

function formatProgress(
  { rows, differences, bytesDone }: CompareProgress,
  file: { readonly path: string; readonly elapsedMs: number },
): string {
  const { percent, remaining } = formatPosition({ ...file, bytesDone });
  return `${formatCount(rows, 'row')} compared (${percent}), ${formatCount(differences, 'difference')}${remaining}`;
}

const revenuecat = 'revenuecat';
const iapticUrl = 'https://validator.iaptic.com';

async function connectRevenueCat(
  connection: { readonly key: string; readonly maxWaitMs: number; readonly signal: AbortSignal },
  { project, apiUrl }: Options,
): Promise<Validator> {
  const { createRevenueCatValidator } = await import('./compare/revenuecat-validator.ts');
  return await createRevenueCatValidator({ ...connection, project, baseUrl: apiUrl });
}

function getExitCode(report: CompareReport): number {
  if (report.differences.length > 0) return exitCodes.found;
  return isProof(report) ? exitCodes.done : exitCodes.failed;
}

const columns: readonly Column<RowDifference>[] = [
  { title: 'line', value: ({ line }) => line, align: 'right' },
  { title: 'user', value: ({ user }) => user },
  { title: 'product', value: ({ productId }) => productId },
  { title: 'field', value: ({ field }) => field },
  { title: 'this service', value: ({ here }) => describeValue(here) },
  { title: 'other validator', value: ({ there }) => describeValue(there) },
];

const describeValue = (value: RowDifference['here']): string => (value === undefined ? 'none' : String(value));

/** Maximum number of rows without a comparison in the text. `--json` lists all. */
const maxListedReasons = 20;

function formatReport(report: CompareReport, width: number | undefined): string {
  const { rows, equal, differences, notCompared } = report;
  const summary = `${formatCount(rows, 'row')}: ${equal} equal, ${rows - equal - notCompared.length} different, ${notCompared.length} not compared.`;
  const reasons = notCompared
    .slice(0, maxListedReasons)
    .map(({ line, reason }) => `Line ${line} is not compared. ${reason}`);
  const omitted = notCompared.length - reasons.length;
  return [
    ...(differences.length > 0 ? [formatTable(columns, differences, width)] : []),
    ...reasons,
    ...(omitted > 0 ? [`Not compared: ${formatCount(omitted, 'further row')}.`] : []),
    summary,
    ...(report.interrupted ? ['Interrupted: the other rows of the file are not compared.'] : []),
    ...(report.compared === 0 ? ['Nothing was compared.'] : []),
  ].join('\n');
}

/** Parses the name of a service or a base URL. */
function parseValidator(text: string): string {
  if (text === 'iaptic') return iapticUrl;
  return text === revenuecat ? text : parseUrl(text);
}

/** Parses a base URL. A key must not be sent unencrypted, except to this machine. */
function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (!url || (url.protocol !== 'https:' && !isLocal) || url.username !== '' || url.search !== '')
    throw new InvalidArgumentError('Expected the base URL of a validator with https.');
  return text.replace(/\/+$/, '');
}
