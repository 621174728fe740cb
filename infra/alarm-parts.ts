import { Duration } from 'aws-cdk-lib';
import type { AlarmProps, IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { AlarmText } from './create-alarm.ts';
import type { DeploymentOptions } from './deployment-options.ts';
import type { Queues } from './queues.ts';

export interface AlarmsProps {
  /** The topic that the alarms publish to when they start and end. */
  readonly topic: ITopic;
  readonly accessLog: ILogGroup;
  readonly table: ITable;
  /** Functions by contract id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;
  /** Functions by endpoint id. */
  readonly notificationEndpoints: ReadonlyMap<string, LambdaFunction>;
  /** Functions by worker id. */
  readonly workers: ReadonlyMap<string, LambdaFunction>;
  readonly queues: Queues;
  readonly options: DeploymentOptions;
}

/** Adds an alarm that starts if a metric reaches the threshold. */
export type AddAlarm = (
  id: string,
  metric: IMetric,
  threshold: number,
  text: AlarmText,
  options?: Partial<AlarmProps>,
) => void;

export const period = Duration.minutes(5);
export const sumOptions = { period, statistic: 'Sum' } as const;

/** Impacts of several alarms. */
export const staleEntitlements = 'apps see stale entitlements';
export const missingAccess = 'customers may lack paid access, or keep access after a refund';
