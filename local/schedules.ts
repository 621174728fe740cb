import * as v from 'valibot';
import { cannotStart } from './cannot-start.ts';
import type { Names } from './intrinsics.ts';
import type { Closable } from './lifetimes.ts';
import type { LocalFunction } from './local-function.ts';
import type { LocalFunctions } from './local-functions.ts';
import type { SharedClock } from './shared-clock.ts';
import { resourcesOf, type Template } from './template.ts';

const Rule = v.object({
  ScheduleExpression: v.string(),
  State: v.optional(v.picklist(['ENABLED', 'DISABLED']), 'ENABLED'),
  Targets: v.array(v.object({ Arn: v.string() })),
});

interface Machine {
  readonly functions: LocalFunctions;
  readonly clock: SharedClock;
  readonly log: (text: string) => void;
}

const lookEveryMs = 200;
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
export function runSchedules(template: Template, names: Names, { functions, clock, log }: Machine): Closable {
  const rules = [...resourcesOf(template, 'AWS::Events::Rule', { properties: Rule, names })];
  const scheduled = rules
    .filter(([, { State }]) => State === 'ENABLED')
    .flatMap(([rule, { ScheduleExpression, Targets }]) => {
      const periodMs = periodOf(ScheduleExpression, rule);
      return Targets.map(({ Arn }) => repeated({ rule, work: functions.byArn(Arn), periodMs }, clock, log));
    });
  const timer = setInterval(() => {
    for (const look of scheduled) look();
  }, lookEveryMs);
  return { close: async () => clearInterval(timer) };
}

/** `rate(5 minutes)` in milliseconds. */
function periodOf(expression: string, rule: string): number {
  const [, count = '', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const periodMs = Number(count) * (units[unit] ?? 0);
  if (periodMs > 0) return periodMs;
  throw cannotStart(`The rule ${rule} has the schedule ${expression}; only rate(…) runs on this machine.`);
}

function repeated({ rule, work, periodMs }: Schedule, clock: SharedClock, log: (text: string) => void): () => void {
  const current = (): number => Math.floor(clock.now() / periodMs);
  // What runs every minute also runs at the start; for longer periods somebody else has just run, or nothing has happened.
  let seen = periodMs > minute ? current() : undefined;
  let isRunning = false;
  const run = async (): Promise<void> => {
    const time = new Date(clock.now()).toISOString();
    const event = { source: 'aws.events', 'detail-type': 'Scheduled Event', time, detail: {} };
    const ending = await work.invoke(JSON.stringify(event));
    if ('error' in ending) log(`${rule}: ${ending.error}\n`);
    if ('timedOut' in ending) log(`${rule}: The function took too long.\n`);
  };
  return () => {
    if (isRunning || current() === seen) return;
    seen = current();
    isRunning = true;
    run()
      .catch((thrown: unknown) => log(`${rule}: ${thrown instanceof Error ? thrown.stack : thrown}\n`))
      .finally(() => {
        isRunning = false;
      });
  };
}
