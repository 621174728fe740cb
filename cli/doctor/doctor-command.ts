import { Command } from 'commander';
import { isLocalService } from '../../lib/foundation/service.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import { diagnoseService } from '../../lib/health/diagnose-service.ts';
import { type CommandResult, exitCodes, printResult } from '../command-result.ts';
import { formatExamples } from '../examples.ts';
import { getService } from '../get-service.ts';
import { parseSeconds } from '../option-parsers.ts';
import type { Output } from '../output.ts';
import { checkTableVersion } from './check-table-version.ts';
import { readDeployment } from './deployment.ts';
import { formatReport } from './format-report.ts';

const defaultTimeoutSeconds = 15;

export function createDoctorCommand(): Command {
  return new Command('doctor')
    .description('Check the service and its apps, stores and webhooks, and explain each problem with its cure')
    .argument('[app]', 'app to check; all by default')
    .option('--timeout <seconds>', 'limit for each check', parseSeconds, defaultTimeoutSeconds)
    .addHelpText('after', formatExamples('doctor', 'doctor my-app', '--json doctor'))
    .action(printResult(doctorAction));
}

async function doctorAction(
  appName: string | undefined,
  { timeout }: { timeout: number },
  { width, progress }: Output,
): Promise<CommandResult> {
  progress('Checking the service');
  const { emulator, now } = getService();
  const isLocal = isLocalService(emulator);
  const deployment = readDeployment(process.env);
  // The clients of AWS take most of the start of a command.
  const { listDeploymentChecks } = await import('./list-deployment-checks.ts');
  const { findings, checks } = await diagnoseService(getService(), {
    appName,
    baseUrl: deployment?.apiUrl ?? '<ApiUrl>',
    timeoutMs: timeout * secondMs,
    otherChecks: [
      { name: 'table version', run: async () => await checkTableVersion(getService()) },
      ...listDeploymentChecks(deployment, { isLocal, now }),
    ],
  });
  const ok = findings.every(({ severity }) => severity === 'note');
  return {
    data: { ok, findings, checks },
    text: formatReport({ findings, checks }, width),
    exitCode: ok ? exitCodes.done : exitCodes.found,
  };
}
