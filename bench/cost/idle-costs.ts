import * as v from 'valibot';
import type { Template } from '../../local/template.ts';
import { addQuantities, type Quantities, scaleQuantities } from '../prices.ts';
import { assumptions, secondsOfMonth } from './assumptions.ts';

/** Resource types without their own price, with the reason. */
const freeTypes: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'on-demand: billed by requests and storage. Encrypted with a key of AWS',
  'AWS::SQS::Queue': 'billed by requests. Encrypted with a key of SQS',
  'AWS::Lambda::Function': 'billed by invocations',
  'AWS::Logs::LogGroup': 'billed by data',
  'AWS::ApiGateway::RestApi': 'billed by requests',
  'AWS::SNS::Topic': 'billed by notifications of alarms',
  'AWS::SQS::QueuePolicy': 'configuration',
  'AWS::IAM::Role': 'configuration',
  'AWS::IAM::Policy': 'configuration',
  'AWS::IAM::ManagedPolicy': 'configuration',
  'AWS::Lambda::Permission': 'configuration',
  'AWS::Lambda::EventInvokeConfig': 'configuration',
  'AWS::ApiGateway::Account': 'configuration',
  'AWS::ApiGateway::Deployment': 'configuration',
  'AWS::ApiGateway::Stage': 'no cache',
  'AWS::SNS::TopicPolicy': 'configuration',
  'AWS::Logs::QueryDefinition': 'billed by scanned data when an operator runs it',
};

const Alarm = v.object({ Metrics: v.optional(v.array(v.object({ MetricStat: v.optional(v.unknown()) }))) });
const Mapping = v.object({ FilterCriteria: v.optional(v.unknown()) });

const longPollSeconds = 20;

/** Quantities of one month for each resource type with its own price. */
const pricedTypes: Readonly<Record<string, (properties: unknown) => Quantities>> = {
  'AWS::SecretsManager::Secret': () => ({ secrets: 1 }),
  'AWS::CloudWatch::Dashboard': () => ({ dashboards: 1 }),
  'AWS::CloudWatch::Alarm': (properties) => {
    const { Metrics } = v.parse(Alarm, properties);
    return { alarmMetrics: Metrics ? Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length : 1 };
  },
  'AWS::Logs::MetricFilter': () => ({ customMetrics: assumptions.errorHoursShare.value }),
  // Lambda reads streams without charge, and queues with billed receives.
  'AWS::Lambda::EventSourceMapping': (properties) =>
    v.parse(Mapping, properties).FilterCriteria === undefined
      ? { queueRequests: (assumptions.pollersOfQueue.value * secondsOfMonth) / longPollSeconds }
      : {},
  // The invocations of schedules are added from their measured cost.
  'AWS::Events::Rule': () => ({}),
};

/** Adds the monthly quantities of all resources. Throws for a resource type whose price is not decided. */
export function sumIdleQuantities({ Resources }: Template): Quantities {
  return addQuantities(
    ...Object.values(Resources).map(({ Type, Properties }) => {
      const toQuantities = pricedTypes[Type];
      if (toQuantities) return toQuantities(Properties);
      if (freeTypes[Type] === undefined) throw new Error(`The price of ${Type} is not decided in idle-costs.ts.`);
      return {};
    }),
  );
}

const Rule = v.object({
  ScheduleExpression: v.string(),
  Targets: v.array(v.object({ Arn: v.object({ 'Fn::GetAtt': v.tuple([v.string(), v.literal('Arn')]) }) })),
});
const Handler = v.object({ Handler: v.string() });

/** A function that a schedule invokes. */
export interface Schedule {
  /** `<area>/<file>`. */
  readonly functionName: string;
  readonly invocationsPerMonth: number;
}

const secondsByUnit: Readonly<Record<string, number>> = { minute: 60, hour: 3600, day: 24 * 3600 };

export function listSchedules({ Resources }: Template): Schedule[] {
  return Object.values(Resources)
    .filter(({ Type }) => Type === 'AWS::Events::Rule')
    .flatMap(({ Properties }) => {
      const { ScheduleExpression, Targets } = v.parse(Rule, Properties);
      const [, count = '', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(ScheduleExpression) ?? [];
      const periodSeconds = Number(count) * (secondsByUnit[unit] ?? 0);
      if (!(periodSeconds > 0)) throw new Error(`The schedule ${ScheduleExpression} is not a rate.`);
      return Targets.map(({ Arn }) => ({
        functionName: v.parse(Handler, Resources[Arn['Fn::GetAtt'][0]]?.Properties).Handler.replace(/\.\w+$/, ''),
        invocationsPerMonth: secondsOfMonth / periodSeconds,
      }));
    });
}

/** Multiplies the cost of one run of each schedule by its number in a month. */
export const sumScheduleQuantities = (
  schedules: readonly Schedule[],
  quantitiesOfRun: ReadonlyMap<string, Quantities>,
): Quantities =>
  addQuantities(
    ...schedules.map(({ functionName, invocationsPerMonth }) => {
      const quantities = quantitiesOfRun.get(functionName);
      if (!quantities) throw new Error(`The schedule of ${functionName} is not measured.`);
      return scaleQuantities(quantities, invocationsPerMonth);
    }),
  );
