import { describe, expect, it } from '@jest/globals';
import { waitUntil } from '../../emulator/test/notification-receiver.ts';
import type { InvocationResult, LocalFunction } from '../../local/local-function.ts';
import { createLocalNames } from '../../local/local-names.ts';
import { startSchedules } from '../../local/schedules.ts';
import { createSharedClock } from '../../local/shared-clock.ts';

const rule = (ScheduleExpression: string, id: string) => ({
  Type: 'AWS::Events::Rule',
  Properties: {
    ScheduleExpression,
    State: 'ENABLED',
    Targets: [{ Arn: { 'Fn::GetAtt': [id, 'Arn'] }, Id: 'Target0' }],
  },
});
const template = {
  Resources: {
    Minutely: { Type: 'AWS::Lambda::Function', Properties: {} },
    Hourly: { Type: 'AWS::Lambda::Function', Properties: {} },
    EachMinute: rule('rate(1 minute)', 'Minutely'),
    EachHour: rule('rate(1 hour)', 'Hourly'),
  },
};

const { EachHour: _, ...minutely } = template.Resources;
const onlyEachMinute = { Resources: minutely };
const names = createLocalNames(template, { run: 'run', getQueueUrl: (name) => name });

function raise(error: Error): never {
  throw error;
}

function createSignal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}

/** Creates functions that all invoke `invoke` with their ARN. */
const createFunctions = (invoke: (arn: string) => Promise<InvocationResult>) => ({
  get: (arn: string): LocalFunction => ({ invoke: async () => await invoke(arn) }),
});

describe('startSchedules', () => {
  it('invokes the function once per period, never concurrently', async () => {
    const calls: string[] = [];
    const running = new Set<string>();
    const { promise: released, resolve: release } = createSignal();
    const functions = createFunctions(async (arn) => {
      const name = arn.includes('Hourly') ? 'hourly' : 'minutely';
      expect(running.has(name)).toBe(false);
      running.add(name);
      calls.push(name);
      await released;
      running.delete(name);
      return { result: 'null' };
    });
    const clock = createSharedClock();
    clock.set(Date.parse('2027-01-01T00:30:10Z'));
    const schedules = startSchedules(template, names, { functions, clock, log: () => {} });
    await waitUntil(() => calls.length === 1);
    expect(calls).toEqual(['minutely']);
    clock.set(Date.parse('2027-01-03T12:00:10Z'));
    await waitUntil(() => calls.length === 2);
    expect(calls).toEqual(['minutely', 'hourly']);
    release();
    await waitUntil(() => calls.length === 3);
    expect(calls).toEqual(['minutely', 'hourly', 'minutely']);
    await schedules.close();
  });

  it('does not invoke the functions of stopped schedules, and rejects an unknown one', async () => {
    const calls: string[] = [];
    const functions = createFunctions(async (arn) => {
      calls.push(arn.includes('Hourly') ? 'hourly' : 'minutely');
      return { result: 'null' };
    });
    const clock = createSharedClock();
    const start = (...stopped: string[]) =>
      startSchedules(template, names, { stopped, functions, clock, log: () => {} });
    const schedules = start('Each-Minute');
    clock.set(Date.parse('2037-01-03T12:00:10Z'));
    await waitUntil(() => calls.length > 0);
    await schedules.close();
    expect(calls).toEqual(['hourly']);
    expect(() => start('Each-Minute', 'no-worker')).toThrow(/^STOPPED_SCHEDULES no-worker is not valid/);
  });

  it.each<[string, () => Promise<InvocationResult>]>([
    ['fails', async () => ({ error: 'Error: no luck' })],
    ['takes too long', async () => ({ timedOut: true })],
    ['cannot be called', async () => Promise.reject(new Error('no luck'))],
    ['throws before it is called', () => raise(new Error('no luck'))],
  ])('continues after its function %s and logs the rule', async (_what, invoke) => {
    const lines: string[] = [];
    let calls = 0;
    const localFunction: LocalFunction = {
      invoke: () => {
        calls++;
        return invoke();
      },
    };
    const functions = { get: () => localFunction };
    const clock = createSharedClock();
    const schedules = startSchedules(onlyEachMinute, names, { functions, clock, log: (line) => lines.push(line) });
    await waitUntil(() => calls === 1);
    clock.set(clock.now() + 60_000);
    await waitUntil(() => calls === 2);
    await schedules.close();
    await waitUntil(() => lines.length === 2);
    expect(lines[0]).toMatch(/^EachMinute: .*(no luck|timed out)/);
  });

  it.each(['cron(0 3 * * ? *)', 'rate(0 minutes)'])('rejects the schedule %s and names the rule', (expression) => {
    const functions = createFunctions(async () => ({ result: 'null' }));
    const daily = { Resources: { ...template.Resources, EachNight: rule(expression, 'Hourly') } };
    const start = () => startSchedules(daily, names, { functions, clock: createSharedClock(), log: () => {} });
    expect(start).toThrow(`The rule EachNight has the schedule ${expression}`);
  });
});
