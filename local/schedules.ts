import * as v from 'valibot';
import type { Names } from './intrinsics.ts';
import type { Closable } from './lifetimes.ts';
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

/** Calls the functions of the template's schedules: once for each period that begins, however far the clock is moved. */
export function runSchedules(template: Template, names: Names, { functions, clock, log }: Machine): Closable {
  const rules = [...resourcesOf(template, 'AWS::Events::Rule', { properties: Rule, names }).values()];
  const scheduled = rules
    .filter(({ State }) => State === 'ENABLED')
    .flatMap(({ ScheduleExpression, Targets }) =>
      Targets.map(({ Arn }) => repeated(Arn, periodOf(ScheduleExpression), { functions, clock, log })),
    );
  const timer = setInterval(() => {
    for (const look of scheduled) look();
  }, lookEveryMs);
  return { close: async () => clearInterval(timer) };
}

/** `rate(5 minutes)` in milliseconds. Throws for an expression that does not run on this machine. */
export function periodOf(expression: string): number {
  const [, count = '', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const length = units[unit];
  if (length === undefined) throw new Error(`The schedule ${expression} does not run on this machine.`);
  return Number(count) * length;
}

function repeated(arn: string, period: number, { functions, clock, log }: Machine): () => void {
  const current = (): number => Math.floor(clock.now() / period);
  // What runs every minute also runs at the start; for longer periods somebody else has just run, or nothing has happened.
  let seen = period > minute ? current() : undefined;
  let isRunning = false;
  return () => {
    if (isRunning || current() === seen) return;
    seen = current();
    isRunning = true;
    const time = new Date(clock.now()).toISOString();
    functions
      .byArn(arn)
      .invoke(JSON.stringify({ source: 'aws.events', 'detail-type': 'Scheduled Event', time, detail: {} }))
      .then((ending) => {
        if ('error' in ending) log(`${ending.error}\n`);
      })
      .finally(() => {
        isRunning = false;
      });
  };
}
