import { Duration } from 'aws-cdk-lib';
import type { AlarmProps, IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { AlarmText } from './create-alarm.ts';

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
