import { describe, expect, it } from '@jest/globals';
import type { LocalFunctions } from '../../local/local-functions.ts';
import { localNames } from '../../local/local-names.ts';
import { periodOf, runSchedules } from '../../local/schedules.ts';
import { sharedClock } from '../../local/shared-clock.ts';

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
    const clock = sharedClock();
    clock.set(Date.parse('2027-01-01T00:30:10Z'));
    const names = localNames(template, { run: 'run', queueUrl: (name) => name });
    const functions = { byArn } as unknown as LocalFunctions;
    const schedules = runSchedules(template, names, { functions, clock, log: () => {} });
    await pause(700);
    expect(calls).toEqual(['minutely']);
    clock.set(Date.parse('2027-01-03T12:00:10Z'));
    await pause(700);
    expect(calls.sort()).toEqual(['hourly', 'minutely', 'minutely']);
    await schedules.close();
  });

  it('is understood as a rate, and refused as anything else', () => {
    expect(periodOf('rate(5 minutes)')).toBe(300_000);
    expect(periodOf('rate(1 day)')).toBe(86_400_000);
    expect(() => periodOf('cron(0 3 * * ? *)')).toThrow('does not run on this machine');
  });
});
