import { Command } from 'commander';
import {
  type DeploymentOptions,
  getStackName,
  getWorkerConcurrency,
  parseDeploymentOptions,
} from '../../infra/deployment-options.ts';
import { listPrices } from '../../infra/option-prices.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import { runChecks } from '../../lib/health/run-checks.ts';
import { type CommandResult, exitCodes, printResult } from '../command-result.ts';
import { formatReport } from '../doctor/format-report.ts';
import { formatExamples } from '../examples.ts';
import type { Output } from '../output.ts';

const timeoutMs = 15 * secondMs;

export function createPreflightCommand(): Command {
  return new Command('preflight')
    .description('Check the AWS account before a deployment, and show the price of the chosen options')
    .option('-c, --context <option=value...>', 'deployment options, as for `cdk deploy`')
    .addHelpText(
      'after',
      formatExamples('preflight', 'preflight -c stage=production -c alarmEmail=ops@example.com -c backup=true'),
    )
    .action(printResult(preflightAction));
}

function readOptions(context: readonly string[] = []): DeploymentOptions {
  try {
    return parseDeploymentOptions(Object.fromEntries(context.map((pair) => splitPair(pair))));
  } catch (error) {
    throw new ServiceError('InvalidPayload', error instanceof Error ? error.message : '', { cause: error });
  }
}

function splitPair(pair: string): readonly [string, string] {
  const [, name = pair, value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
  return [name, value];
}

async function preflightAction(
  { context }: { readonly context?: readonly string[] },
  { width }: Output,
): Promise<CommandResult> {
  const options = readOptions(context);
  const [{ checkBootstrap, checkDomainName, checkStack }, { describeStack, findRegion }, { checkConcurrencyQuota }] =
    await Promise.all([import('./checks.ts'), import('../stack-outputs.ts'), import('../doctor/check-quota.ts')]);
  const stackName = getStackName(options);
  // Throws without credentials or a region: nothing else can be checked then.
  const stack = await describeStack(stackName);
  const region = await findRegion();
  const { findings, checks } = await runChecks(
    [
      { name: 'stack', run: async () => checkStack(stackName, stack) },
      { name: 'bootstrap', run: checkBootstrap },
      { name: 'domain name', run: async () => await checkDomainName(options.domainName, stackName) },
      { name: 'concurrency quota', run: async () => await checkConcurrencyQuota(getWorkerConcurrency(options)) },
    ],
    { timeoutMs },
  );
  const prices = listPrices(options);
  const ok = findings.every(({ severity }) => severity === 'note');
  const title = `${stack ? 'An update' : 'The first deployment'} of the stack ${stackName} in ${region}`;
  return {
    data: { ok, region, stack: stackName, isUpdate: stack !== undefined, findings, checks, prices },
    text: [
      title,
      ...(findings.length > 0 ? [formatReport({ findings, checks }, width)] : ['The checks found nothing.']),
      ['Price, in addition to the traffic', ...prices.map(({ part, usd, per }) => `  $${usd} a ${per}  ${part}`)].join(
        '\n',
      ),
    ].join('\n\n'),
    exitCode: ok ? exitCodes.done : exitCodes.found,
  };
}
