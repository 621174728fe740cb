import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

interface RetryPolicy {
  /** When the queue shows a message again that failed; whose worker must be how fast is in workers.ts. */
  readonly visibleAfterSeconds: number;
  /** How often a message fails before it is a dead letter, which only the operator brings back. */
  readonly attempts: number;
}

/**
 * The queues between the functions, by what travels in them. One is as patient as its messages need, and no more: those
 * that wait for their next attempt are in flight, of which a queue takes 120,000 before it shows nobody's messages.
 */
const retryPolicies = {
  /** What stores told: verified, and to be looked up. Six hours: an outage, or an owner who mends refused settings. */
  notifications: { visibleAfterSeconds: 360, attempts: 60 },
  /** Purchases whose time has come. Half an hour: the sweep sends what is still due every ten minutes anyway. */
  refreshes: { visibleAfterSeconds: 360, attempts: 5 },
  /** Webhooks to the applications. A day: only the table's trouble fails them, and no list shows a first attempt. */
  webhooks: { visibleAfterSeconds: 180, attempts: 480 },
} as const satisfies Record<string, RetryPolicy>;

export type QueueName = keyof typeof retryPolicies;

/** A queue and where its messages go that no attempt could handle. */
export interface WorkQueue {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
}

/** Every queue, and the place for records of the table's stream that no attempt could handle. */
export class Queues extends Construct {
  readonly queues: Readonly<Record<QueueName, WorkQueue>>;
  readonly streamFailures: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queues = {
      notifications: this.createWorkQueue('notifications'),
      refreshes: this.createWorkQueue('refreshes'),
      webhooks: this.createWorkQueue('webhooks'),
    };
    this.streamFailures = this.createDeadLetterQueue('StreamFailures');
  }

  private createWorkQueue(name: QueueName): WorkQueue {
    const { visibleAfterSeconds: visibilityTimeoutSeconds, attempts: maxReceiveCount } = retryPolicies[name];
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
