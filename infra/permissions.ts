import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Contract } from '../lib/api/contract.ts';
import type { indexes } from '../lib/foundation/key.ts';
import { getMetricNamespace } from './code-stack.ts';
import type { QueueName, Queues } from './queues.ts';
import { completeKeys, type WrittenKeys } from './written-keys.ts';

/** Permission of a function in addition to reading items and recording its event. */
export type Permission = Contract['permissions'][number] | 'rejections' | QueueName;

/** Resources that functions share. */
export interface SharedResources {
  readonly table: ITable;
  readonly secret: ISecret;
  readonly queues: Queues;
  /** Functions are invoked by an alias. */
  readonly hasAliases: boolean;
  /** Locations of scheduled exports. */
  readonly exportLocations?: readonly string[];
}

const isQueue = (permission: Permission): permission is QueueName =>
  permission === 'notifications' ||
  permission === 'refreshes' ||
  permission === 'webhooks' ||
  permission === 'forwards';

/** Builds the environment of a function: the names of its resources, no secrets. */
export function buildEnvironment(permissions: readonly Permission[], { table, secret, queues }: SharedResources) {
  const urls = permissions
    .filter(isQueue)
    .map((name) => [`${name.toUpperCase()}_QUEUE_URL`, queues.queues[name].queue.queueUrl] as const);
  return {
    METRICS_NAMESPACE: getMetricNamespace(table),
    TABLE_NAME: table.tableName,
    MASTER_KEY_ID: secret.secretArn,
    ...Object.fromEntries(urls),
    ...(permissions.includes('streamFailures') && { STREAM_FAILURES_QUEUE_URL: queues.streamFailures.queueUrl }),
  };
}

/** Actions that a function may perform on items with these partition keys. */
export interface AllowedWrite {
  readonly actions: readonly ('PutItem' | 'UpdateItem' | 'DeleteItem' | 'ConditionCheckItem' | 'BatchWriteItem')[];
  readonly keys: WrittenKeys;
}

/** Restrictions of the writes of a function. */
interface WriteLimits {
  /** Keys of the items that the function writes besides events and the activity of stores. */
  readonly writtenKeys: WrittenKeys;
  readonly recordsEvents?: boolean;
  /** Further writes, each with its actions. */
  readonly allowedWrites?: readonly AllowedWrite[];
}

/** Grants the permissions of a function. */
export function grantPermissions(
  handler: LambdaFunction,
  permissions: readonly Permission[],
  resources: SharedResources & WriteLimits,
): void {
  const { table, secret, queues, allowedWrites = [] } = resources;
  for (const statement of buildTableStatements(permissions, resources)) handler.addToRolePolicy(statement);
  for (const write of allowedWrites) handler.addToRolePolicy(buildWriteStatement(table, write));
  if (readsMasterKey(permissions)) secret.grantRead(handler);
  for (const name of permissions.filter(isQueue)) queues.queues[name].queue.grantSendMessages(handler);
  if (permissions.includes('streamFailures')) queues.streamFailures.grant(handler, 'sqs:GetQueueAttributes');
}

const buildWriteStatement = (table: ITable, { actions, keys }: AllowedWrite): PolicyStatement =>
  new PolicyStatement({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn],
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } },
  });

const readsMasterKey = (permissions: readonly Permission[]): boolean =>
  permissions.includes('stores') || permissions.includes('secrets');

/** Keys of the buckets of rejected credentials, which every endpoint with a key writes. */
const rejectionKeys: WrittenKeys = ['_LIMIT#*'];

const readActions = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'];

/**
 * All functions read items and record their event. Other writes, updates and index queries require a permission. Each
 * function names the keys that it writes. If it excluded keys, a username that contains `#P#` would match `*#P#*`.
 */
function buildTableStatements(
  permissions: readonly Permission[],
  { table, writtenKeys, allowedWrites, recordsEvents = true }: SharedResources & WriteLimits,
): PolicyStatement[] {
  const queriedIndexes = permissions.includes('indexes') ? (['byCreated', 'byKey'] as const) : [];
  const userIndex = permissions.includes('userIndex') ? (['byUser'] as const) : [];
  const dueIndex = permissions.includes('due') ? (['due'] as const) : [];
  const arns = [...queriedIndexes, ...userIndex, ...dueIndex].map(
    (index: keyof typeof indexes) => `${table.tableArn}/index/${index}`,
  );
  const hasFullWrites = permissions.includes('write') && !allowedWrites;
  const keys = completeKeys(permissions, writtenKeys);
  const changes = ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'] as const;
  return [
    new PolicyStatement({ actions: readActions, resources: [table.tableArn] }),
    ...(recordsEvents
      ? [buildWriteStatement(table, { actions: ['BatchWriteItem', ...(hasFullWrites ? changes : [])], keys })]
      : []),
    ...(permissions.includes('rejections')
      ? [buildWriteStatement(table, { actions: ['UpdateItem'], keys: rejectionKeys })]
      : []),
    ...(arns.length > 0 ? [new PolicyStatement({ actions: ['dynamodb:Query'], resources: arns })] : []),
  ];
}
