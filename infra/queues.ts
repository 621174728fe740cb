import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** The queues between the functions, by what travels in them; whose worker must be how fast is in workers.ts. */
const visibleAfterSeconds = {
  /** What stores told: verified, and to be looked up. */
  notifications: 360,
  /** Purchases whose time has come. */
  refreshes: 360,
  /** Webhooks to the applications. */
  webhooks: 180,
} as const;

export type QueueName = keyof typeof visibleAfterSeconds;

/** A queue and where its messages go that no attempt could handle. */
export interface WorkQueue {
  readonly queue: Queue;
  readonly dead: Queue;
}

/** Every queue, and the place for records of the table's stream that no attempt could handle. */
export class Queues extends Construct {
  readonly work: Readonly<Record<QueueName, WorkQueue>>;
  readonly streamFailures: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.work = {
      notifications: this.workQueue('notifications'),
      refreshes: this.workQueue('refreshes'),
      webhooks: this.workQueue('webhooks'),
    };
    this.streamFailures = this.deadQueue('StreamFailures');
  }

  private workQueue(name: QueueName): WorkQueue {
    const dead = this.deadQueue(`${name}-dead`);
    const queue = new Queue(this, name, {
      visibilityTimeout: Duration.seconds(visibleAfterSeconds[name]),
      retentionPeriod: Duration.days(14),
      deadLetterQueue: { queue: dead, maxReceiveCount: 5 },
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    return { queue, dead };
  }

  private deadQueue(id: string): Queue {
    return new Queue(this, id, {
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
  }
}
