import { describe, expect, it } from '@jest/globals';
import { findResources, listProperties, readStack } from '../../testing/stack-templates.ts';

interface MetricQuery {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: {
    readonly Metric: { readonly MetricName: string; readonly Dimensions: readonly { Name: string; Value: string }[] };
  };
}

interface AlarmProperties {
  readonly AlarmDescription: string;
  readonly MetricName?: string;
  readonly Metrics?: readonly MetricQuery[];
  readonly Threshold: number;
  readonly ComparisonOperator: 'GreaterThanOrEqualToThreshold' | 'LessThanThreshold';
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly TreatMissingData: 'notBreaching' | 'breaching';
}

/** Values of metrics in a period, by name. A metric without data is missing. */
type Values = Readonly<Record<string, number>>;

/** The name of a metric, with its outcome if it has one. */
function getName({ MetricStat }: MetricQuery): string {
  const { MetricName = '', Dimensions = [] } = MetricStat?.Metric ?? {};
  return [MetricName, ...Dimensions.filter(({ Name }) => Name === 'Outcome').map(({ Value }) => Value)].join(' ');
}

/** Returns the value that an alarm compares. Undefined without data. */
function evaluate({ MetricName, Metrics }: AlarmProperties, values: Values): number | undefined {
  if (MetricName !== undefined) return values[MetricName];
  const inputs = (Metrics ?? []).filter(({ MetricStat }) => MetricStat);
  const expression = (Metrics ?? []).find(({ Expression }) => Expression)?.Expression ?? '';
  const fill = (value: number | undefined, otherwise: number) => value ?? otherwise;
  const choose = (condition: boolean, value: number, otherwise: number) => (condition ? value : otherwise);
  const calculate = new Function('FILL', 'IF', ...inputs.map(({ Id }) => Id), `return ${expression};`);
  return calculate(fill, choose, ...inputs.map((input) => values[getName(input)]));
}

/** The alarm is on after these periods, the newest last. */
function isOn(alarm: AlarmProperties, periods: readonly Values[]): boolean {
  const { Threshold, ComparisonOperator, EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods } = alarm;
  const breaching = periods.slice(-EvaluationPeriods).filter((values) => {
    const value = evaluate(alarm, values);
    if (value === undefined) return alarm.TreatMissingData === 'breaching';
    return ComparisonOperator === 'LessThanThreshold' ? value < Threshold : value >= Threshold;
  });
  return breaching.length >= DatapointsToAlarm;
}

const { joined } = await readStack('everyWithoutAdoption');

/** Finds the alarm by its id in the code. */
function getAlarm(id: string): AlarmProperties {
  const alarms = findResources(joined, 'AWS::CloudWatch::Alarm');
  const pattern = new RegExp(`Alarms${id.replaceAll('-', '')}[0-9A-F]{8}$`);
  const [found, ...others] = Object.entries(alarms).filter(([name]) => pattern.test(name));
  if (!found || others.length > 0) throw new Error(`The template has no alarm ${id}, or several.`);
  return found[1].Properties as AlarmProperties;
}

const repeat = (values: Values, times: number): Values[] => Array.from({ length: times }, () => values);
const quiet = repeat({}, 12);

describe('alarms', () => {
  it.each([
    ['half of the requests get 401', 'Rejections', repeat({ 'stage-Rejections': 80, Count: 160 }, 3)],
    ['the API fails for an hour', 'availability-burn-fast', [{ '5XXError': 30, Count: 2_000 }]],
    ['the API fails now and then', 'availability-burn-slow', [{ '5XXError': 70, Count: 10_000 }]],
    ['validations fail for an hour', 'validation-burn-fast', [{ 'validate-receipt-Error': 30, Invocations: 2_000 }]],
    ['a store is down', 'validation-burn-fast', [{ 'validate-receipt-StoreUnavailable': 30, Invocations: 2_000 }]],
    ['refreshes get no answer', 'requests-to-store-a-failing', [{}, ...repeat({ 'StoreRequests failed': 9 }, 2)]],
    ['the certificate ends in 29 days', 'certificate-expiring', [{ DaysToExpiry: 29 }]],
    ['a receiver is down', 'webhook-url-failing', [{ 'send-webhook-WebhookUrlFailing': 1 }, ...quiet.slice(1)]],
    ['a store is silent', 'store-silent', [{ 'recover-notifications-StoreSilent': 1 }, ...repeat({}, 17)]],
    ['fan-out-webhooks lags', 'fan-out-webhooks-delayed', [{ IteratorAge: 900_000 }]],
    ['a webhook is given up', 'webhooks-given-up', [{ 'send-webhook-WebhookDead': 1 }]],
    ['the table throttles', 'TableThrottles', [{ ThrottledRequests: 2 }]],
  ] as const)('start if %s: %s', (_case, id, periods) => {
    expect(isOn(getAlarm(id), periods)).toBe(true);
    expect(isOn(getAlarm(id), quiet)).toBe(false);
  });

  it.each([
    ['few requests get 401', 'Rejections', repeat({ 'stage-Rejections': 99, Count: 99 }, 3)],
    ['a third of the requests gets 429', 'Rejections', repeat({ 'stage-Rejections': 100, Count: 300 }, 3)],
    ['the requests of one period get 401', 'Rejections', [{}, {}, { 'stage-Rejections': 200, Count: 200 }]],
    ['one of a thousand requests fails', 'availability-burn-fast', [{ '5XXError': 2, Count: 2_000 }]],
    ['one request of a quiet night fails', 'availability-burn-slow', [{ '5XXError': 1, Count: 20 }]],
    ['one of a thousand validations fails', 'validation-burn-fast', [{ Errors: 2, Invocations: 2_000 }]],
    [
      'some requests to a store fail',
      'requests-to-store-b-failing',
      repeat({ 'StoreRequests ok': 90, 'StoreRequests failed': 10 }, 3),
    ],
    ['a store fails for an hour', 'requests-to-store-a-failing', [{ 'StoreRequests failed': 9 }, {}, {}]],
    ['the certificate ends in a year', 'certificate-expiring', [{ DaysToExpiry: 365 }]],
  ] as const)('do not start if %s: %s', (_case, id, periods) => {
    expect(isOn(getAlarm(id), periods)).toBe(false);
  });

  it.each([
    'enqueue-due-items',
    'recover-notifications',
    'poll-notifications',
    'load-exchange-rates',
    'send-alerts',
    'export-apps',
    'aggregate-statistics',
    'fan-out-webhooks',
  ])('start if %s is no longer invoked', (id) => {
    const alarm = getAlarm(`${id}-not-running`);
    expect(isOn(alarm, quiet)).toBe(true);
    expect(isOn(alarm, [{ Invocations: 1 }])).toBe(false);
  });

  it('all start with the worst values of their metrics, and not with the best ones', () => {
    const alarms = Object.entries(findResources(joined, 'AWS::CloudWatch::Alarm'));
    const everyMetric = (value: number, others: Values = {}): Values =>
      new Proxy(others, { get: (_others, name) => others[String(name)] ?? value });
    const states = alarms.map(([name, { Properties }]) => {
      const alarm = Properties as AlarmProperties;
      const many = 1_000_000;
      const isLow = alarm.ComparisonOperator === 'LessThanThreshold';
      const extremes = isLow
        ? [everyMetric(0), everyMetric(many, { FailedInvocations: 0 })]
        : [everyMetric(many), everyMetric(0, { Invocations: many })];
      return [name, ...extremes.map((values) => isOn(alarm, repeat(values, alarm.EvaluationPeriods)))];
    });
    expect(states).toEqual(alarms.map(([name]) => [name, true, false]));
  });

  it('contain no metric twice, because each one is billed', () => {
    const repeated = Object.entries(findResources(joined, 'AWS::CloudWatch::Alarm')).filter(([, { Properties }]) => {
      const { Metrics = [] } = Properties as AlarmProperties;
      const metrics = Metrics.flatMap(({ MetricStat }) => (MetricStat ? [JSON.stringify(MetricStat)] : []));
      return new Set(metrics).size < metrics.length;
    });
    expect(repeated.map(([name]) => name)).toEqual([]);
  });

  it('send only pages to the address of the pager', () => {
    const subscriptions = listProperties(joined, 'AWS::SNS::Subscription');
    const pager = subscriptions.find(({ Endpoint }) => Endpoint === 'pager@example.com');
    expect(pager).toMatchObject({ FilterPolicyScope: 'MessageBody' });
    const [{ suffix }] = pager?.FilterPolicy.AlarmDescription ?? [{}];
    const descriptions = listProperties(joined, 'AWS::CloudWatch::Alarm').map(
      ({ AlarmDescription }) => AlarmDescription,
    );
    const pages = descriptions.filter((text) => text.endsWith(suffix));
    expect(pages.length).toBeGreaterThan(10);
    expect(descriptions.length - pages.length).toBeGreaterThan(5);
  });

  it('report backup and copy jobs that do not end with success', () => {
    const rules = listProperties(joined, 'AWS::Events::Rule').filter(({ EventPattern }) =>
      EventPattern?.source.includes('aws.backup'),
    );
    expect(rules.map(({ EventPattern }) => [EventPattern['detail-type'], EventPattern.detail.state])).toEqual([
      [['Backup Job State Change'], ['FAILED', 'EXPIRED', 'ABORTED']],
      [['Copy Job State Change'], ['FAILED']],
    ]);
    const [topic] = Object.keys(findResources(joined, 'AWS::SNS::Topic'));
    for (const { Targets } of rules) {
      expect(Targets).toMatchObject([{ Arn: { Ref: topic } }]);
      expect(Targets[0].InputTransformer.InputTemplate).toMatch(/Severity: ticket\./);
    }
    const policy = JSON.stringify(listProperties(joined, 'AWS::SNS::TopicPolicy'));
    expect(policy).toContain('"Service":"events.amazonaws.com"');
  });
});
