import { Duration, SecretValue } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import {
  ApiDestination,
  Authorization,
  Connection,
  HttpMethod,
  type IApiDestination,
  Rule,
  Schedule,
} from 'aws-cdk-lib/aws-events';
import { ApiDestination as ApiDestinationTarget } from 'aws-cdk-lib/aws-events-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { getTokenKeys } from '../lib/entitlements/contract.ts';
import { createAlarm } from './create-alarm.ts';

interface SyntheticCheckProps {
  /** The public URL of the API. */
  readonly url: string;
  readonly topic: ITopic;
}

const period = Duration.minutes(5);
const callIntervalMinutes = 1;
/** Calls of a period that must succeed. Single failures are not an outage: EventBridge waits five seconds at most. */
const minSuccessfulCalls = 3;

/**
 * Calls the API each minute by its public URL. The call passes DNS, the certificate, the web ACL, API Gateway, a
 * function and the table, and needs no key. The other alarms do not start if no request arrives.
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-api-destinations.html
 */
export class SyntheticCheck extends Construct {
  constructor(scope: Construct, id: string, { url, topic }: SyntheticCheckProps) {
    super(scope, id);
    // A connection requires credentials. The operation ignores them.
    const connection = new Connection(this, 'Connection', {
      authorization: Authorization.apiKey('X-Synthetic-Check', SecretValue.unsafePlainText('synthetic-check')),
    });
    const destination = new ApiDestination(this, 'Destination', {
      connection,
      endpoint: `${url}${getTokenKeys.path}`,
      httpMethod: HttpMethod.GET,
    });
    const rule = new Rule(this, 'Schedule', {
      schedule: Schedule.rate(Duration.minutes(callIntervalMinutes)),
      targets: [
        // A repeated call would hide a failure.
        new ApiDestinationTarget(destination as IApiDestination, {
          retryAttempts: 0,
          maxEventAge: Duration.minutes(callIntervalMinutes),
        }),
      ],
    });
    createAlarm(this, 'synthetic-check', {
      topic,
      metric: createSuccessMetric(rule),
      threshold: minSuccessfulCalls,
      text: {
        symptom: 'The public URL of the API does not respond',
        impact: 'all clients fail, and stores cannot deliver notifications',
        action: 'request the URL, then check its DNS record, the certificate and the stage of API Gateway',
      },
      options: {
        evaluationPeriods: 2,
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        treatMissingData: TreatMissingData.BREACHING,
      },
    });
  }
}

/**
 * The calls that received a status 2xx. EventBridge counts failed calls as invocations, too.
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html
 */
function createSuccessMetric({ ruleName }: Rule): MathExpression {
  const create = (metricName: string): Metric =>
    new Metric({
      namespace: 'AWS/Events',
      metricName,
      dimensionsMap: { RuleName: ruleName },
      period,
      statistic: 'Sum',
    });
  return new MathExpression({
    expression: 'FILL(calls, 0) - FILL(failures, 0)',
    usingMetrics: { calls: create('Invocations'), failures: create('FailedInvocations') },
    label: 'successful calls',
    period,
  });
}
