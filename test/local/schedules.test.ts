import { describe, expect, it } from '@jest/globals';
import type { InvocationResult } from '../../local/local-function.ts';
import type { LocalFunctions } from '../../local/local-functions.ts';
import { createLocalNames } from '../../local/local-names.ts';
import { startSchedules } from '../../local/schedules.ts';
import { createSharedClock } from '../../local/shared-clock.ts';
import { waitUntil } from '../emulator/notification-receiver.ts';

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

const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

describe('a schedule', () => {
  it('runs once for each jump of the clock into another period, never twice at a time', async () => {
    const calls: string[] = [];
    let running = 0;
    const byArn = (arn: string) => ({
      invoke: async () => {
        calls.push(arn.includes('Hourly') ? 'hourly' : 'minutely');
        running++;
        expect(running).toBeLessThanOrEqual(2);
        await pause(300);
        running--;
        return { result: 'null' };
      },
      close: async () => {},
    });
    const clock = createSharedClock();
    clock.set(Date.parse('2027-01-01T00:30:10Z'));
    const functions = { byArn } as unknown as LocalFunctions;
    const schedules = startSchedules(template, names, { functions, clock, log: () => {} });
    await pause(700);
    expect(calls).toEqual(['minutely']);
    clock.set(Date.parse('2027-01-03T12:00:10Z'));
    await pause(700);
    expect(calls.sort()).toEqual(['hourly', 'minutely', 'minutely']);
    await schedules.close();
  });

  it.each<[string, () => Promise<InvocationResult>]>([
    ['fails', async () => ({ error: 'Error: no luck' })],
    ['takes too long', async () => ({ timedOut: true })],
    ['cannot be called', async () => Promise.reject(new Error('no luck'))],
    ['throws before it is called', () => raise(new Error('no luck'))],
  ])('goes on when its function %s, and the log names the rule', async (_what, invoke) => {
    const lines: string[] = [];
    let calls = 0;
    const work = {
      invoke: () => {
        calls++;
        return invoke();
      },
    };
    const clock = createSharedClock();
    const functions = { byArn: () => work } as unknown as LocalFunctions;
    const schedules = startSchedules(onlyEachMinute, names, { functions, clock, log: (line) => lines.push(line) });
    await waitUntil(() => calls === 1);
    clock.set(clock.now() + 60_000);
    await waitUntil(() => calls === 2);
    await schedules.close();
    await waitUntil(() => lines.length === 2);
    expect(lines[0]).toMatch(/^EachMinute: .*(no luck|too long)/);
  });

  it.each(['cron(0 3 * * ? *)', 'rate(0 minutes)'])('keeps the machine from starting as %s, by its name', (other) => {
    const functions = { byArn: () => ({}) } as unknown as LocalFunctions;
    const daily = { Resources: { ...template.Resources, EachNight: rule(other, 'Hourly') } };
    const start = () => startSchedules(daily, names, { functions, clock: createSharedClock(), log: () => {} });
    expect(start).toThrow(`The rule EachNight has the schedule ${other}`);
  });
});
