import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { AlarmsProps } from './alarm-parts.ts';
import { AlarmTopic } from './alarm-topic.ts';
import { Alarms } from './alarms.ts';
import { CodeStack } from './code-stack.ts';
import { LogQueries, type LogQueriesProps } from './log-queries.ts';

export interface MonitoringProps extends Omit<AlarmsProps, 'topic'> {
  readonly queriedLogs: Omit<LogQueriesProps, 'accessLog'>;
}

/**
 * The topic of the alarms, and a nested stack with the alarms, the dashboard and the log queries. The topic is a
 * resource of the stack with the data, because its subscriptions are confirmed by hand.
 */
export class Monitoring extends Construct {
  readonly topic: ITopic;
  readonly alarms: Alarms;

  constructor(scope: Construct, id: string, { queriedLogs, ...props }: MonitoringProps) {
    super(scope, id);
    this.topic = new AlarmTopic(this, 'Alarms', props.options).topic as ITopic;
    const stack = new CodeStack(this, 'Monitoring', 'alarms, dashboard and log queries');
    this.alarms = new Alarms(stack, 'Alarms', { ...props, topic: this.topic });
    new LogQueries(stack, 'LogQueries', { ...queriedLogs, accessLog: props.accessLog });
  }
}
