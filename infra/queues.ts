import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledgeFinding } from './acknowledgements.ts';

interface RetryPolicy {
  /** Delay until a failed message is visible again; at least six times the timeout of the worker, see workers.ts. */
  readonly visibilityTimeoutSeconds: number;
  /** Attempts until a message moves to the dead-letter queue, from which only the operator redrives it. */
  readonly maxReceiveCount: number;
}

/**
 * Retry policies by queue. Retries are limited because messages that wait for a retry are in flight, and a queue with
 * 120,000 messages in flight delivers no others.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
 */
const retryPolicies = {
  /** Verified store notifications. 6 h cover an outage, or the correction of settings that a store rejects. */
  notifications: { visibilityTimeoutSeconds: 360, maxReceiveCount: 60 },
  /** Due purchases. 30 min, because renewals are enqueued again every ten minutes. */
  refreshes: { visibilityTimeoutSeconds: 360, maxReceiveCount: 5 },
  /** Webhook deliveries. 24 h cover an outage of the table, because the first attempt lacks a due item. */
  webhooks: { visibilityTimeoutSeconds: 180, maxReceiveCount: 480 },
  /** Store notifications for other servers. The same as of webhooks, for the same reason. */
  forwards: { visibilityTimeoutSeconds: 180, maxReceiveCount: 480 },
} as const satisfies Record<string, RetryPolicy>;

export type QueueName = keyof typeof retryPolicies;

/** A queue with its dead-letter queue. */
export interface WorkQueue {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
}

/** The queues, and the dead-letter queue for records of the table's stream. */
export class Queues extends Construct {
  readonly queues: Readonly<Record<QueueName, WorkQueue>>;
  readonly streamFailures: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queues = {
      notifications: this.createWorkQueue('notifications'),
      refreshes: this.createWorkQueue('refreshes'),
      webhooks: this.createWorkQueue('webhooks'),
      forwards: this.createWorkQueue('forwards'),
    };
    this.streamFailures = this.createDeadLetterQueue('StreamFailures');
    acknowledgeFinding(
      this.streamFailures,
      'SQS3',
      'It is the failure destination of the stream workers. The rule recognizes dead-letter queues of queues only.',
    );
  }

  private createWorkQueue(name: QueueName): WorkQueue {
    const { visibilityTimeoutSeconds, maxReceiveCount } = retryPolicies[name];
    const deadLetterQueue = this.createDeadLetterQueue(`${name}-dead`);
    const queue = new Queue(this, name, {
      visibilityTimeout: Duration.seconds(visibilityTimeoutSeconds),
      retentionPeriod: Duration.days(14),
      deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount },
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    return { queue, deadLetterQueue };
  }

  private createDeadLetterQueue(id: string): Queue {
    return new Queue(this, id, {
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
  }
}
