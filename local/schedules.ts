import * as v from 'valibot';
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
  readonly functions: LocalFunctions;
  readonly clock: SharedClock;
  readonly log: (text: string) => void;
}

const pollIntervalMs = 200;
const minute = 60_000;
const units: Readonly<Record<string, number>> = { minute, hour: 60 * minute, day: 24 * 60 * minute };

interface Schedule {
  /** The rule's logical id. */
  readonly rule: string;
  readonly work: LocalFunction;
  readonly periodMs: number;
}

/**
 * Calls the functions of the template's schedules: once for each period that begins, however far the clock is moved. A call
 * that fails is logged, and the schedule goes on. Throws a `CannotStart` for a rule that does not run on this machine.
 */
export function startSchedules(
  template: Template,
  names: TemplateNames,
  { functions, clock, log }: ScheduleOptions,
): Closable {
  const rules = [...listResources(template, 'AWS::Events::Rule', { properties: Rule, names })];
  const scheduled = rules
    .filter(([, { State }]) => State === 'ENABLED')
    .flatMap(([rule, { ScheduleExpression, Targets }]) => {
      const periodMs = parseRate(ScheduleExpression, rule);
      return Targets.map(({ Arn }) =>
        createScheduleCheck({ rule, work: functions.getByArn(Arn), periodMs }, clock, log),
      );
    });
  const timer = setInterval(() => {
    for (const look of scheduled) look();
  }, pollIntervalMs);
  return { close: async () => clearInterval(timer) };
}

/** `rate(5 minutes)` in milliseconds. */
function parseRate(expression: string, rule: string): number {
  const [, count = '', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const periodMs = Number(count) * (units[unit] ?? 0);
  if (periodMs > 0) return periodMs;
  throw startupError(`The rule ${rule} has the schedule ${expression}; only rate(…) runs on this machine.`);
}

function createScheduleCheck(
  { rule, work, periodMs }: Schedule,
  clock: SharedClock,
  log: (text: string) => void,
): () => void {
  const current = (): number => Math.floor(clock.now() / periodMs);
  // What runs every minute also runs at the start; for longer periods somebody else has just run, or nothing has happened.
  let lastPeriod = periodMs > minute ? current() : undefined;
  let isRunning = false;
  const run = async (): Promise<void> => {
    const time = new Date(clock.now()).toISOString();
    const event = { source: 'aws.events', 'detail-type': 'Scheduled Event', time, detail: {} };
    const ending = await work.invoke(JSON.stringify(event));
    if ('error' in ending) log(`${rule}: ${ending.error}\n`);
    if ('timedOut' in ending) log(`${rule}: The function took too long.\n`);
  };
  return () => {
    if (isRunning || current() === lastPeriod) return;
    lastPeriod = current();
    isRunning = true;
    run()
      .catch((error: unknown) => log(`${rule}: ${error instanceof Error ? error.stack : error}\n`))
      .finally(() => {
        isRunning = false;
      });
  };
}
