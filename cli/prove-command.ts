import { randomBytes } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ServiceError } from '../lib/foundation/errors.ts';
import type { Platform } from '../lib/foundation/platform.ts';
import { dayMs, secondMs } from '../lib/foundation/time.ts';
import { type CommandResult, exitCodes, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { getService } from './get-service.ts';
import { createNumberParser, parseStore } from './option-parsers.ts';
import type { Output } from './output.ts';
import { requireOwnUrl, withTemporaryKey } from './own-service.ts';
import { type StepName, stepNames } from './prove/proof-step.ts';
import type { Proof } from './prove/run-proof.ts';
import { readVersion } from './read-version.ts';

interface Options {
  readonly report: string;
  readonly sandbox?: true;
  readonly steps: readonly StepName[];
  readonly wait: number;
  readonly byHand?: true;
  readonly url?: string;
}

export function createProveCommand(): Command {
  return new Command('prove')
    .description('Prove the set-up of an app at a store: guide through purchases and watch what arrives')
    .argument('<app>')
    .argument('<platform>', 'store, such as store_a or apple', parseStore)
    .requiredOption('--report <file>', 'file for the report: Markdown, or JSON for a name with .json')
    .option('--sandbox', 'the sandbox of the store, in which purchases cost nothing')
    .addOption(
      new Option('--steps <steps>', 'steps, separated by commas')
        .argParser(parseSteps)
        .default(stepNames, stepNames.join(',')),
    )
    .option('--wait <seconds>', 'limit for each step', createNumberParser('seconds', { min: 1, max: 86_400 }), 900)
    .option('--by-hand', 'perform the steps by hand also with the store emulator')
    .option('--url <url>', 'base URL of this service (stack output ApiUrl; default: API_URL, or the local service)')
    .addHelpText(
      'after',
      formatExamples(
        'prove my-app store_a --sandbox --report proof.md',
        'prove my-app google --sandbox --report proof.md --steps buy,renew,cancel',
      ),
    )
    .addHelpText('after', '\nExit codes: 0 everything was seen, 3 faults, or steps that were late, unseen or skipped.')
    .action(printResult(proveAction));
}

async function proveAction(
  appName: string,
  platform: Platform,
  options: Options,
  output: Output,
): Promise<CommandResult> {
  const url = requireOwnUrl(options.url);
  await requireWritable(options.report);
  const signal = output.listenForInterrupt();
  const { emulator } = getService();
  const emulatorUrl = options.byHand ? undefined : emulator.url;
  const keyOptions = { appName, prefix: 'prove', validMs, signal };
  const proof = await withTemporaryKey({ ...keyOptions, level: 'viewer' }, async (key) => {
    const prove = async (publicKey: string): Promise<Proof> =>
      await runWithKeys({ appName, platform, url, key, publicKey, emulatorUrl, signal }, options, output);
    return emulatorUrl === undefined
      ? await prove('')
      : await withTemporaryKey({ ...keyOptions, level: 'public' }, prove);
  });
  return await saveProof(proof, options, emulator.url !== undefined);
}

/** A proof takes hours, so a file that cannot be written is an error at its start. */
async function requireWritable(report: string): Promise<void> {
  await appendFile(report, '').catch((cause: unknown) => {
    throw new ServiceError('InvalidPayload', `The report ${report} cannot be written.`, { cause });
  });
}

/** A proof can wait for days between its steps. */
const validMs = 90 * dayMs;

interface Keys {
  readonly appName: string;
  readonly platform: Platform;
  readonly url: string;
  readonly key: string;
  readonly publicKey: string;
  readonly emulatorUrl: string | undefined;
  readonly signal: AbortSignal;
}

async function runWithKeys(keys: Keys, { sandbox, steps, wait }: Options, output: Output): Promise<Proof> {
  const { appName, platform, url, key, publicKey, emulatorUrl, signal } = keys;
  const [{ runProof }, { guides }, { createServiceClient }, owners] = await Promise.all([
    import('./prove/run-proof.ts'),
    import('./prove/guides.ts'),
    import('./prove/service-client.ts'),
    import('./prove/owner.ts'),
  ]);
  const guide = guides[platform];
  const isSandbox = sandbox === true;
  if (emulatorUrl === undefined) output.note(['Before the first step:', ...guide.preparations].join('\n- '));
  const customer = `prove-${randomBytes(4).toString('hex')}`;
  return await runProof({
    appName,
    platform,
    isSandbox,
    steps,
    guide,
    owner:
      emulatorUrl === undefined
        ? owners.createTerminalOwner(output)
        : owners.createEmulatedOwner({
            emulatorUrl,
            platform,
            isSandbox,
            serviceUrl: url,
            appName,
            publicKey,
            customers: [customer, `${customer}-second`],
            output,
          }),
    client: createServiceClient(url, appName, key),
    url,
    waitMs: wait * secondMs,
    version: readVersion(),
    signal,
    onProgress: output.progress,
    service: getService(),
  });
}

async function saveProof(proof: Proof, { report, steps }: Options, isEmulated: boolean): Promise<CommandResult> {
  const { recording, ...data } = proof;
  const versions = { Claimcheck: readVersion(), Node: process.versions.node };
  const recordingFile = recording && `${report.replace(/\.(?:md|json)$/, '')}.recording.json`;
  if (recordingFile !== undefined) await writeFile(recordingFile, `${JSON.stringify(recording)}\n`);
  const { formatProof, formatUnseen } = await import('./prove/format-proof.ts');
  const details = { versions, isEmulated, recordingFile };
  const result = { ...data, versions, ...(recordingFile !== undefined && { recordingFile }) };
  await writeFile(
    report,
    report.endsWith('.json') ? `${JSON.stringify(result, null, 2)}\n` : formatProof(proof, details),
  );
  const wanted = proof.steps.filter(({ name }) => steps.includes(name));
  const seen = wanted.filter((step) => step.result === 'seen').length;
  const unseen = formatUnseen(wanted);
  const faults = proof.findings.map(({ code, problem, cure }) => `${code}: ${problem}\n  → ${cure}`);
  return {
    data: result,
    text: [
      ...faults,
      ...(unseen === '' ? [] : [`Not seen:\n${unseen}`]),
      `${seen} of ${wanted.length} steps seen. The report is in ${report}.`,
    ].join('\n'),
    exitCode: seen === wanted.length && faults.length === 0 ? exitCodes.done : exitCodes.found,
  };
}

function parseSteps(text: string): readonly StepName[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(stepNames as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`${unknown} is not a step. Steps: ${stepNames.join(', ')}.`);
  if (!names.includes('buy'))
    throw new InvalidArgumentError('buy is missing. The other steps concern the purchase of this step.');
  return stepNames.filter((name) => names.includes(name));
}
