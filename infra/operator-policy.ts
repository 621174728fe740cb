import { Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { indexes } from '../lib/foundation/key.ts';
import { acknowledgeFinding } from './acknowledgements.ts';
import { acknowledgeExports, buildExportStatements } from './export-statements.ts';
import type { Queues } from './queues.ts';

interface OperatorPolicyProps {
  readonly table: ITable;
  readonly secret: ISecret;
  readonly queues: Queues;
  readonly alarmTopic: ITopic;
  readonly exportLocations?: readonly string[];
}

/** Indexes that the commands query. */
const queriedIndexes: readonly (keyof typeof indexes)[] = ['byCreated', 'byKey', 'byUser', 'due'];

/**
 * Partition keys of the items that the commands write: the version of the table, apps, owners of API keys, catalogues,
 * token keys, schedules of exports, purchases, their credits, customers, aliases, handled notifications, deliveries,
 * webhook URLs, statistics, stream markers, events with their tags, access tokens, vault references, erased names,
 * idempotent operations, refund requests and the activity of stores. See lib/foundation/keys.ts.
 */
const writtenKeys = [
  '_TABLE',
  'APP#*',
  '_KEY#*',
  '*#I',
  '*#M',
  '*#W',
  '*#P#*',
  '*#CB#*',
  '*#C#*',
  '*#U#*',
  '*#K#*',
  '*#D#*',
  '*#H#*',
  '*#S',
  '*#Q#*',
  '*#Z#*',
  '*#F#*',
  '*#E#*',
  '*#G#*',
  '*#A#*',
  '*#V#*',
  '*#X#*',
  '*#O#*',
  '*#R#*',
  '*#Y',
  '*#Y#*',
];

/**
 * The managed policy for the roles of operators: it allows what the commands of cli/ do, and to empty the dead-letter
 * queues.
 */
export class OperatorPolicy extends Construct {
  readonly policy: ManagedPolicy;

  constructor(scope: Construct, id: string, props: OperatorPolicyProps) {
    super(scope, id);
    const { table, secret, queues, alarmTopic, exportLocations } = props;
    this.policy = new ManagedPolicy(this, 'Policy', {
      description: 'Claimcheck: commands of the operator and redrive of dead-letter queues',
      statements: [
        ...buildTableStatements(table),
        new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secret.secretArn] }),
        ...buildQueueStatements(queues),
        // The option --stack of the commands.
        new PolicyStatement({ actions: ['cloudformation:DescribeStacks'], resources: [Stack.of(this).stackId] }),
        ...buildDoctorStatements(table, alarmTopic),
        // The erasure of a customer rewrites the exports.
        ...buildExportStatements(this, exportLocations),
      ],
    });
    acknowledgeExports(this.policy, exportLocations);
    acknowledgeFinding(
      this.policy,
      'IAM5[Resource::*]',
      'lambda:GetAccountSettings and lambda:ListEventSourceMappings have no resource. They return the quotas of the account, and the states of mappings.',
    );
  }
}

const buildTableStatements = ({ tableArn }: ITable): PolicyStatement[] => [
  new PolicyStatement({
    actions: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:ConditionCheckItem'],
    resources: [tableArn],
  }),
  new PolicyStatement({
    actions: ['dynamodb:Query'],
    resources: [tableArn, ...queriedIndexes.map((index) => `${tableArn}/index/${index}`)],
  }),
  new PolicyStatement({
    actions: ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem', 'dynamodb:BatchWriteItem'],
    resources: [tableArn],
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': writtenKeys } },
  }),
];

/**
 * Permissions of `doctor` for the configuration of resources. The quotas of the account are not a resource, and IAM
 * does not limit the listing of mappings to one.
 */
const buildDoctorStatements = ({ tableArn }: ITable, { topicArn }: ITopic): PolicyStatement[] => [
  new PolicyStatement({
    actions: ['dynamodb:DescribeTable', 'dynamodb:DescribeContinuousBackups', 'dynamodb:DescribeTimeToLive'],
    resources: [tableArn],
  }),
  new PolicyStatement({ actions: ['sns:ListSubscriptionsByTopic'], resources: [topicArn] }),
  new PolicyStatement({ actions: ['lambda:GetAccountSettings', 'lambda:ListEventSourceMappings'], resources: ['*'] }),
];

/**
 * A redrive sends the messages to their source queue with the permissions of the caller. It does not support stream
 * failures, which `webhooks stream-failures replay` receives and deletes.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
 */
function buildQueueStatements({ queues, streamFailures }: Queues): PolicyStatement[] {
  const workQueues = Object.values(queues);
  const deadLetterQueues = workQueues.map(({ deadLetterQueue }) => deadLetterQueue);
  return [
    new PolicyStatement({ actions: ['sqs:SendMessage'], resources: workQueues.map(({ queue }) => queue.queueArn) }),
    new PolicyStatement({
      actions: ['sqs:StartMessageMoveTask', 'sqs:ListMessageMoveTasks', 'sqs:CancelMessageMoveTask'],
      resources: deadLetterQueues.map(({ queueArn }) => queueArn),
    }),
    new PolicyStatement({
      actions: ['sqs:GetQueueAttributes', 'sqs:ReceiveMessage', 'sqs:DeleteMessage'],
      resources: [...deadLetterQueues, streamFailures].map(({ queueArn }) => queueArn),
    }),
    // `webhooks stream-failures list` makes the messages visible again.
    new PolicyStatement({ actions: ['sqs:ChangeMessageVisibility'], resources: [streamFailures.queueArn] }),
  ];
}
