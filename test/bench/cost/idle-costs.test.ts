import { beforeAll, describe, expect, it } from '@jest/globals';
import { listSchedules, sumIdleQuantities, sumScheduleQuantities } from '../../../bench/cost/idle-costs.ts';
import { computeMonthCost, listBillLines } from '../../../bench/cost/month-costs.ts';
import type { OperationCost } from '../../../bench/cost/operation-costs.ts';
import {
  getAccessLogFormat,
  listFunctionSettings,
  listStreamSettings,
  nameHandlers,
} from '../../../bench/cost/template.ts';
import { contracts } from '../../../lib/contracts/index.ts';
import type { Template } from '../../../local/template.ts';
import { readStack } from '../../../testing/stack-templates.ts';

let template: Template;
beforeAll(async () => {
  template = nameHandlers((await readStack('none')).joined);
});

const withResource = (type: string, properties: object): Template => ({
  Resources: { Extra: { Type: type, Properties: properties } },
});

describe('sumIdleQuantities', () => {
  it('decides the price of every resource of the deployed template', () => {
    expect(sumIdleQuantities(template)).toMatchObject({ secrets: 1, dashboards: 1 });
  });

  it('throws for a resource type without a decision', () => {
    expect(() => sumIdleQuantities(withResource('AWS::EC2::NatGateway', {}))).toThrow('AWS::EC2::NatGateway');
  });

  it('counts each metric of an alarm, but not its expression', () => {
    const Metrics = [{ MetricStat: {} }, { MetricStat: {} }, { Expression: 'm0 + m1' }];
    expect(sumIdleQuantities(withResource('AWS::CloudWatch::Alarm', { Metrics }))).toEqual({ alarmMetrics: 2 });
    expect(sumIdleQuantities(withResource('AWS::CloudWatch::Alarm', { MetricName: 'm' }))).toEqual({ alarmMetrics: 1 });
  });

  it('counts the empty receives of a queue, and none of a stream', () => {
    // Five pollers, three receives a minute, 30 days.
    const mapping = 'AWS::Lambda::EventSourceMapping';
    expect(sumIdleQuantities(withResource(mapping, {}))).toEqual({ queueRequests: 648_000 });
    expect(sumIdleQuantities(withResource(mapping, { FilterCriteria: {} }))).toEqual({});
  });
});

describe('listSchedules', () => {
  it('lists every schedule of the template with its invocations in a month', () => {
    expect(listSchedules(template)).toContainEqual({
      functionName: 'workers/enqueue-due-items',
      invocationsPerMonth: 43_200,
    });
  });

  it('multiplies the measured cost of a run', () => {
    const schedules = [{ functionName: 'workers/a', invocationsPerMonth: 10 }];
    expect(sumScheduleQuantities(schedules, new Map([['workers/a', { tableReads: 2 }]]))).toEqual({ tableReads: 20 });
    expect(() => sumScheduleQuantities(schedules, new Map())).toThrow('workers/a');
  });
});

describe('settings of the template', () => {
  it('contain every function, both stream workers and the access log', () => {
    const functions = listFunctionSettings(template);
    for (const { area, id } of contracts) expect(functions.get(`${area}/${id}`)?.memoryMb).toBeGreaterThan(0);
    expect([...listStreamSettings(template).keys()].sort()).toEqual([
      'workers/aggregate-statistics',
      'workers/fan-out-webhooks',
    ]);
    expect(getAccessLogFormat(template)).toContain('$context.status');
  });
});

const names = [
  'validation, new',
  'validation, repeated later',
  'validation, rejected',
  'read, customer',
  'read, purchase',
];
const operations = [...names, 'notification with its webhook', 'refresh'].flatMap((name) =>
  (['quiet', 'steady'] as const).map((load): OperationCost => {
    const storage = { permanentBytes: name === 'validation, new' ? 1_000 : 0, expiringByteDays: 0 };
    const quantities = { lambdaRequests: load === 'quiet' ? 2 : 1 };
    const figures = {
      writeUnits: 0,
      readUnits: 0,
      requestReadUnits: 0,
      requestTableCalls: 0,
      billedMs: 0,
      cpuMs: 0,
      logBytes: 0,
      responseBytes: 0,
    };
    return { name, load, quantities, storage, ...figures, dollarsPerMillion: 0, parts: {} };
  }),
);

describe('computeMonthCost', () => {
  it('returns the idle bill without users', () => {
    expect(computeMonthCost(0, operations, { secrets: 1 })).toMatchObject({ dollars: 0.4, storedGb: 0 });
  });

  it('takes the quiet operations for few users and the steady ones for many', () => {
    const [few, many] = [computeMonthCost(10_000, operations, {}), computeMonthCost(1_000_000, operations, {})];
    expect([few.load, many.load]).toEqual(['quiet', 'steady']);
    // The same calls of each user, with two invocations instead of one.
    expect((few.parts.lambdaRequests ?? 0) / 10_000).toBeCloseTo(
      (2 * (many.parts.lambdaRequests ?? 0)) / 1_000_000,
      12,
    );
  });

  it('stores the purchases of a year', () => {
    const { storedGb } = computeMonthCost(1_000_000, operations, {});
    expect(storedGb).toBeCloseTo((0.1 * 1_000_000 * 1_000 * 12) / 1024 ** 3, 9);
  });

  it('throws if an operation is not measured', () => {
    expect(() => computeMonthCost(1, operations.slice(0, 2), {})).toThrow('is not measured');
  });
});

describe('listBillLines', () => {
  it('adds up to the bill of the month, with the calls of all users', () => {
    const [users, idle] = [1_000_000, { secrets: 1 }];
    const lines = listBillLines(users, operations, idle);
    const sum = lines.reduce((total, { dollars }) => total + dollars, 0);
    expect(sum).toBeCloseTo(computeMonthCost(users, operations, idle).dollars, 6);
    expect(lines[0]).toMatchObject({ part: 'validation, new', calls: 100_000 });
  });
});
