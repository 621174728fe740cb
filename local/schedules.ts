import * as v from 'valibot';
import { dayMs, hourMs, minuteMs } from '../lib/foundation/time.ts';
import type { TemplateNames } from './intrinsics.ts';
import type { LocalFunction } from './local-function.ts';
import type { LocalFunctions } from './local-functions.ts';
import type { SharedClock } from './shared-clock.ts';
import type { Closable } from './shutdown.ts';
import { startupError } from './startup-error.ts';
import { listResources, type Template } from './template.ts';

const Rule = v.object({
  ScheduleExpression: v.string(),
  State: v.optional(v.picklist(['ENABLED', 'DISABLED']), 'ENABLED'),
  Targets: v.array(v.object({ Arn: v.string() })),
});

interface ScheduleOptions {
  /** Ids of workers whose schedules do not run, as after an operator has disabled their rules. */
  readonly stopped?: readonly string[];
  readonly functions: Pick<LocalFunctions, 'get'>;
  readonly clock: SharedClock;
  readonly log: (text: string) => void;
}

/** Real time can be set: a timer never waits longer than this. */
const maxTimerMs = minuteMs;

/** Leaves the processors to the start of the service. */
const firstCheckMs = 500;
const unitsMs: Readonly<Record<string, number>> = { minute: minuteMs, hour: hourMs, day: dayMs };

interface Schedule {
  /** The rule's logical id. */
  readonly rule: string;
  readonly handler: LocalFunction;
  readonly periodMs: number;
}

/**
 * Invokes the functions of the template's schedules once per period, however far the clock is moved. Logs failures.
 * Throws a `StartupError` for a schedule expression that is not implemented.
 */
export function startSchedules(
  template: Template,
  names: TemplateNames,
  { stopped = [], functions, clock, log }: ScheduleOptions,
): Closable {
  const rules = [...listResources(template, 'AWS::Events::Rule', { properties: Rule, names })];
  const stoppedRules = stopped.map((worker) => findRule(rules, worker));
  const checks = rules
    .filter(([rule, { State }]) => State === 'ENABLED' && !stoppedRules.includes(rule))
    .flatMap(([rule, { ScheduleExpression, Targets }]) => {
      const periodMs = parseRate(ScheduleExpression, rule);
      return Targets.map(({ Arn }) => createScheduleCheck({ rule, handler: functions.get(Arn), periodMs }, clock, log));
    });
  let timer: NodeJS.Timeout | undefined;
  const checkAll = (): void => {
    clearTimeout(timer);
    for (const { check } of checks) check();
    const nextAt = Math.min(...checks.map(({ periodMs }) => (Math.floor(clock.now() / periodMs) + 1) * periodMs));
    timer = setTimeout(checkAll, Math.min(nextAt - clock.now() + 1, maxTimerMs));
  };
  timer = setTimeout(checkAll, firstCheckMs);
  const unsubscribe = clock.onSet(checkAll);
  return {
    close: async () => {
      unsubscribe();
      clearTimeout(timer);
      for (const { stop } of checks) stop();
    },
  };
}

/** CloudFormation ids contain the id of the worker without hyphens. Throws a `StartupError` if no rule has it. */
function findRule(rules: readonly (readonly [string, unknown])[], worker: string): string {
  const [rule] = rules.find(([id]) => id.includes(worker.replaceAll('-', ''))) ?? [];
  if (rule !== undefined) return rule;
  throw startupError(
    `STOPPED_SCHEDULES ${worker} is not valid: set ids of scheduled workers, such as enqueue-due-items.`,
  );
}

/** Converts `rate(5 minutes)` to milliseconds. */
function parseRate(expression: string, rule: string): number {
  const [, count = '', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const periodMs = Number(count) * (unitsMs[unit] ?? 0);
  if (periodMs > 0) return periodMs;
  throw startupError(`The rule ${rule} has the schedule ${expression}. Only rate(…) runs on this machine.`);
}

function createScheduleCheck({ rule, handler, periodMs }: Schedule, clock: SharedClock, log: (text: string) => void) {
  const getPeriod = (): number => Math.floor(clock.now() / periodMs);
  // Schedules of one minute also run at the start. Longer ones wait for the next period.
  let lastPeriod = periodMs > minuteMs ? getPeriod() : undefined;
  let isRunning = false;
  let isStopped = false;
  const run = async (): Promise<void> => {
    const time = new Date(clock.now()).toISOString();
    const event = { source: 'aws.events', 'detail-type': 'Scheduled Event', time, detail: {} };
    const invocation = await handler.invoke(JSON.stringify(event));
    if ('error' in invocation) log(`${rule}: ${invocation.error}\n`);
    if ('timedOut' in invocation) log(`${rule}: The function timed out.\n`);
  };
  const check = (): void => {
    if (isStopped || isRunning || getPeriod() === lastPeriod) return;
    lastPeriod = getPeriod();
    isRunning = true;
    run()
      .catch((error: unknown) => log(`${rule}: ${error instanceof Error ? error.stack : error}\n`))
      .finally(() => {
        isRunning = false;
        // A period that began during the run.
        check();
      });
  };
  const stop = (): void => {
    isStopped = true;
  };
  return { check, stop, periodMs };
}
