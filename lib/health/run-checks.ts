import { setMaxListeners } from 'node:events';
import pMap from 'p-map';
import { ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { secondMs } from '../foundation/time.ts';
import type { RouteStep } from '../stores/notification-route.ts';
import { checkSignal } from './check-signal.ts';
import { describeError } from './describe-error.ts';
import { createFinding, type Finding, type FindingScope } from './finding.ts';

/** A check of the service. */
export interface HealthCheck extends FindingScope {
  readonly name: string;
  /** Returns the findings, and the steps of a check that reports them. Throws if the check cannot be made. */
  readonly run: () => Promise<readonly Finding[] | DetailedResult>;
  /** Clause with the reason if the check is not made. */
  readonly skipReason?: string | undefined;
}

/** The findings of a check with what it requested. */
export interface DetailedResult {
  readonly findings: readonly Finding[];
  readonly steps: readonly RouteStep[];
}

/**
 * The result of a check. A check that could not be made (`failed`) is a finding too. `reason` is for a skipped
 * check.
 */
export interface CheckResult extends FindingScope {
  readonly name: string;
  readonly result: 'ok' | 'found' | 'failed' | 'skipped';
  readonly reason?: string;
  readonly durationMs: number;
  /** What a check of notifications requested, and what came back. */
  readonly steps?: readonly RouteStep[];
}

export interface HealthReport {
  readonly findings: readonly Finding[];
  readonly checks: readonly CheckResult[];
}

const concurrency = 8;

/** Makes all checks. A check that fails or exceeds the timeout becomes a finding and does not affect the others. */
export async function runChecks(
  checks: readonly HealthCheck[],
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<HealthReport> {
  const results = await pMap(checks, async (check) => await runCheck(check, timeoutMs), { concurrency });
  return {
    findings: removeDuplicates(results.flatMap(({ findings }) => findings)),
    checks: results.map(({ check }) => check),
  };
}

async function runCheck(
  { name, app, platform, run, skipReason }: HealthCheck,
  timeoutMs: number,
): Promise<{ readonly check: CheckResult; readonly findings: readonly Finding[] }> {
  const scope = omitUndefined({ app, platform });
  if (skipReason !== undefined)
    return { check: { name, ...scope, result: 'skipped', reason: skipReason, durationMs: 0 }, findings: [] };
  const startedAt = performance.now();
  const toResult = (result: CheckResult['result'], findings: readonly Finding[]) => ({
    check: { name, ...scope, result, durationMs: Math.round(performance.now() - startedAt) },
    findings,
  });
  try {
    const result = await withTimeout(run, timeoutMs);
    const { findings, steps } = 'findings' in result ? result : { findings: result, steps: undefined };
    const { check } = toResult(findings.length === 0 ? 'ok' : 'found', findings);
    return { check: { ...check, ...(steps && { steps }) }, findings };
  } catch (error) {
    return toResult('failed', [createUnavailableFinding(error) ?? createFailedFinding(name, error, scope)]);
  }
}

/** Aborts the requests that are open at the end: the check failed while they ran, or the time is over. */
async function withTimeout<T>(run: () => Promise<T>, timeoutMs: number): Promise<T> {
  const controller = new AbortController();
  // Each request adds a listener.
  setMaxListeners(0, controller.signal);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    const seconds = timeoutMs / secondMs;
    timer = setTimeout(() => reject(new Error(`there was no result within ${seconds} seconds`)), timeoutMs);
  });
  try {
    return await Promise.race([checkSignal.run(controller.signal, run), timeout]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/** Returns the finding of a table that does not respond, once for all checks that read it. */
function createUnavailableFinding(error: unknown): Finding | undefined {
  if (!(error instanceof ServiceError) || error.code !== 'DatabaseError' || error.isPermanent || isDenied(error))
    return undefined;
  return createFinding('table-unavailable', {
    problem: `The table is unavailable: ${describeError(error)}.`,
    cure: 'Check the name and the region of the table, and the state of DynamoDB. For npm start, restart it.',
  });
}

function createFailedFinding(name: string, error: unknown, scope: FindingScope): Finding {
  const reason = describeError(error);
  return createFinding(
    'check-failed',
    {
      problem: `The check "${name}" could not be made: ${reason}.`,
      cure: isDenied(error)
        ? 'Attach the policy of the stack output OperatorPolicyArn to your role, and run the command again.'
        : 'Run the command again. If the check fails again, correct the reason first.',
    },
    scope,
  );
}

function isDenied(error: unknown): boolean {
  const errors = [error, error instanceof Error ? error.cause : undefined];
  return errors.some(
    (candidate) =>
      candidate instanceof Error && /AccessDenied|AuthorizationError|UnauthorizedOperation/.test(candidate.name),
  );
}

/** Several checks can find the same fault, for example a wrong clock. */
const removeDuplicates = (findings: readonly Finding[]): Finding[] => [
  ...new Map(
    findings.map((finding) => [[finding.code, finding.app, finding.platform, finding.problem].join('\n'), finding]),
  ).values(),
];
