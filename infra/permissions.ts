import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Contract } from '../lib/api/contract.ts';
import type { indexes } from '../lib/db/keys.ts';
import type { QueueName, Queues } from './queues.ts';
import type { StoreEmulatorConfig } from './service-stack.ts';

/** What a function may do beyond reading items and recording its event. */
export type Permission = Contract['permissions'][number] | 'due' | QueueName;

/** What functions work on. */
export interface SharedResources {
  readonly table: Table;
  readonly secret: Secret;
  readonly queues: Queues;
  /** Where the stores are found, on one machine only. */
  readonly emulator?: StoreEmulatorConfig;
}

const isQueue = (need: Permission): need is QueueName =>
  need === 'notifications' || need === 'refreshes' || need === 'webhooks';

/** The environment of a function with these needs: names of what it may use, and nothing secret. */
export function buildEnvironment(needs: readonly Permission[], { table, secret, queues, emulator }: SharedResources) {
  const urls = needs
    .filter(isQueue)
    .map((name) => [`${name.toUpperCase()}_QUEUE_URL`, queues.queues[name].queue.queueUrl] as const);
  const callsStores = needs.includes('stores') || needs.includes('webhooks');
  return {
    TABLE_NAME: table.tableName,
    MASTER_KEY_ID: secret.secretArn,
    ...Object.fromEntries(urls),
    ...(emulator && callsStores && { STORE_EMULATOR_URL: emulator.url, STORE_EMULATOR_ROOT: emulator.rootCertificate }),
  };
}

/** Lets a function do what it needs, and no more. */
export function grantPermissions(
  handler: LambdaFunction,
  needs: readonly Permission[],
  { table, secret, queues }: SharedResources,
): void {
  for (const statement of buildTableStatements(table, needs)) handler.addToRolePolicy(statement);
  if (needs.includes('stores') || needs.includes('secrets')) secret.grantRead(handler);
  for (const name of needs.filter(isQueue)) queues.queues[name].queue.grantSendMessages(handler);
}

/** Every function reads and records its event; only those that need it change purchases or look into an index. */
function buildTableStatements(table: Table, needs: readonly Permission[]): PolicyStatement[] {
  const read = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query', 'dynamodb:BatchWriteItem'];
  const write = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];
  const queriedIndexes = needs.includes('indexes') ? (['byCreated', 'byKey'] as const) : [];
  const dueIndex = needs.includes('due') ? (['due'] as const) : [];
  const arns = [...queriedIndexes, ...dueIndex].map(
    (index: keyof typeof indexes) => `${table.tableArn}/index/${index}`,
  );
  return [
    new PolicyStatement({ actions: needs.includes('write') ? [...read, ...write] : read, resources: [table.tableArn] }),
    ...(arns.length > 0 ? [new PolicyStatement({ actions: ['dynamodb:Query'], resources: arns })] : []),
  ];
}
