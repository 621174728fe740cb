import { Alarm, type AlarmProps, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

export interface AlarmText {
  readonly symptom: string;
  /** Affected party and effect. */
  readonly impact: string;
  /** Log, command or console to use. */
  readonly action: string;
  /** `page`: customers are affected now. `ticket`: it can wait until the next working day. Default: `page`. */
  readonly severity?: 'page' | 'ticket';
}

interface AlarmInput {
  /** The topic that the alarm publishes to when it starts and ends. */
  readonly topic: ITopic;
  readonly metric: IMetric;
  readonly threshold: number;
  readonly text: AlarmText;
  readonly options?: Partial<AlarmProps>;
}

/** Creates an alarm that starts at the threshold, unless `options` change it. */
export function createAlarm(scope: Construct, id: string, input: AlarmInput): Alarm {
  const { topic, metric, threshold, text, options } = input;
  const alarm = new Alarm(scope, id, {
    metric,
    threshold,
    alarmDescription: `${text.symptom}. Impact: ${text.impact}. Action: ${text.action}. Severity: ${text.severity ?? 'page'}.`,
    evaluationPeriods: 1,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
    ...options,
  });
  const notify = new SnsAction(topic);
  alarm.addAlarmAction(notify);
  alarm.addOkAction(notify);
  return alarm;
}
