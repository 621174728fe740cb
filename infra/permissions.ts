import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Contract } from '../lib/api/contract.ts';
import type { indexes } from '../lib/db/keys.ts';
import type { QueueName, Queues } from './queues.ts';

/** Permission of a function in addition to reading items and recording its event. */
export type Permission = Contract['permissions'][number] | 'rejections' | QueueName;

/** The store emulator of the local runtime; never set in a deployment. */
export interface StoreEmulatorConfig {
  readonly url: string;
  /** DER in base64. */
  readonly rootCertificate: string;
}

/** Resources that functions share. */
export interface SharedResources {
  readonly table: ITable;
  readonly secret: ISecret;
  readonly queues: Queues;
  readonly emulator?: StoreEmulatorConfig;
  /** Whether functions are invoked by an alias. */
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
export function buildEnvironment(
  permissions: readonly Permission[],
  { table, secret, queues, emulator }: SharedResources,
) {
  const urls = permissions
    .filter(isQueue)
    .map((name) => [`${name.toUpperCase()}_QUEUE_URL`, queues.queues[name].queue.queueUrl] as const);
  return {
    TABLE_NAME: table.tableName,
    MASTER_KEY_ID: secret.secretArn,
    ...Object.fromEntries(urls),
    ...(emulator && { STORE_EMULATOR_URL: emulator.url, STORE_EMULATOR_ROOT: emulator.rootCertificate }),
  };
}

/** Patterns of the partition keys that a function writes, such as `*#D#*`. See lib/db/keys.ts. */
export type WrittenKeys = readonly string[];

/** Actions that a function may perform on items with these partition keys. */
export interface AllowedWrite {
  readonly actions: readonly ('PutItem' | 'UpdateItem' | 'DeleteItem' | 'BatchWriteItem')[];
  readonly keys: WrittenKeys;
}

/** Restrictions of the writes of a function. */
interface WriteLimits {
  /** All actions of the permissions, on these keys and on events. */
  readonly writtenKeys?: WrittenKeys;
  /** These writes and events, whatever the permissions are. */
  readonly allowedWrites?: readonly AllowedWrite[];
}

/** Grants the permissions of a function. */
export function grantPermissions(
  handler: LambdaFunction,
  permissions: readonly Permission[],
  { table, secret, queues, allowedWrites, ...limits }: SharedResources & WriteLimits,
): void {
  const granted = allowedWrites ? permissions.filter((permission) => permission !== 'write') : permissions;
  const writtenKeys = allowedWrites ? [] : limits.writtenKeys;
  for (const statement of buildTableStatements(table, granted, writtenKeys)) handler.addToRolePolicy(statement);
  for (const { actions, keys } of allowedWrites ?? [])
    handler.addToRolePolicy(
      new PolicyStatement({
        actions: actions.map((action) => `dynamodb:${action}`),
        resources: [table.tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } },
      }),
    );
  if (readsMasterKey(permissions)) secret.grantRead(handler);
  for (const name of permissions.filter(isQueue)) queues.queues[name].queue.grantSendMessages(handler);
}

const readsMasterKey = (permissions: readonly Permission[]): boolean =>
  permissions.includes('stores') || permissions.includes('secrets');

/** Keys of events and their tags, which every function writes. */
const eventKeys: WrittenKeys = ['*#E#*', '*#G#*'];
/**
 * Keys of apps with their API keys and settings. The operator's commands write them, and the endpoints of
 * `settings-writes.ts`.
 */
const appKeys: WrittenKeys = ['APP#*', '_KEY#*'];
/**
 * Keys of purchases. Recording a purchase requires the master key: it omits erased names, whose digests have an
 * encrypted key, and encrypts refresh tokens. A role without the master key therefore cannot write them, so that a
 * function that lacks the permission fails when it first records, and not only after the first erasure of an app.
 */
const purchaseKeys: WrittenKeys = ['*#P#*'];
/** Keys of the buckets of rejected credentials, which every endpoint with a key writes. */
const rejectionKeys: WrittenKeys = ['_LIMIT#*'];

/**
 * All functions read items and record their event. Updates and index queries require a permission. Without the master
 * key, a further statement allows events, because a username in the key of a tag can contain `#P#`.
 */
function buildTableStatements(
  table: ITable,
  permissions: readonly Permission[],
  writtenKeys: WrittenKeys | undefined,
): PolicyStatement[] {
  const read = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query'];
  const batchWrite = ['dynamodb:BatchWriteItem'];
  const write = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem', 'dynamodb:ConditionCheckItem'];
  const queriedIndexes = permissions.includes('indexes') ? (['byCreated', 'byKey'] as const) : [];
  const userIndex = permissions.includes('userIndex') ? (['byUser'] as const) : [];
  const dueIndex = permissions.includes('due') ? (['due'] as const) : [];
  const excludedKeys = readsMasterKey(permissions) ? appKeys : [...appKeys, ...purchaseKeys];
  const arns = [...queriedIndexes, ...userIndex, ...dueIndex].map(
    (index: keyof typeof indexes) => `${table.tableArn}/index/${index}`,
  );
  return [
    new PolicyStatement({ actions: read, resources: [table.tableArn] }),
    new PolicyStatement({
      actions: permissions.includes('write') ? [...batchWrite, ...write] : batchWrite,
      resources: [table.tableArn],
      conditions: writtenKeys
        ? { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...writtenKeys, ...eventKeys] } }
        : { 'ForAllValues:StringNotLike': { 'dynamodb:LeadingKeys': [...excludedKeys] } },
    }),
    ...(writtenKeys || readsMasterKey(permissions)
      ? []
      : [
          new PolicyStatement({
            actions: batchWrite,
            resources: [table.tableArn],
            conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...eventKeys] } },
          }),
        ]),
    ...(permissions.includes('rejections')
      ? [
          new PolicyStatement({
            actions: ['dynamodb:UpdateItem'],
            resources: [table.tableArn],
            conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...rejectionKeys] } },
          }),
        ]
      : []),
    ...(arns.length > 0 ? [new PolicyStatement({ actions: ['dynamodb:Query'], resources: arns })] : []),
  ];
}
