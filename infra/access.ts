import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Contract } from '../lib/api/contract.ts';
import type { indexes } from '../lib/db/keys.ts';
import type { QueueName, Queues } from './queues.ts';
import type { StoreEmulator } from './service-stack.ts';

/** What a function may do beyond reading items and recording its event. */
export type Need = Contract['needs'][number] | 'due' | QueueName;

/** What functions work on. */
export interface Resources {
  readonly table: Table;
  readonly secret: Secret;
  readonly queues: Queues;
  /** Where the stores are found, on one machine only. */
  readonly emulator?: StoreEmulator;
}

const isQueue = (need: Need): need is QueueName =>
  need === 'notifications' || need === 'refreshes' || need === 'webhooks';

/** The environment of a function with these needs: names of what it may use, and nothing secret. */
export function environmentOf(needs: readonly Need[], { table, secret, queues, emulator }: Resources) {
  const urls = needs
    .filter(isQueue)
    .map((name) => [`${name.toUpperCase()}_QUEUE_URL`, queues.work[name].queue.queueUrl] as const);
  const meetsStores = needs.includes('stores') || needs.includes('webhooks');
  return {
    TABLE_NAME: table.tableName,
    MASTER_KEY_ID: secret.secretArn,
    ...Object.fromEntries(urls),
    ...(emulator && meetsStores && { STORES_URL: emulator.url, STORES_ROOT: emulator.rootCertificate }),
  };
}

/** Lets a function do what it needs, and no more. */
export function grant(handler: LambdaFunction, needs: readonly Need[], { table, secret, queues }: Resources): void {
  for (const statement of tableStatements(table, needs)) handler.addToRolePolicy(statement);
  if (needs.includes('stores') || needs.includes('secrets')) secret.grantRead(handler);
  for (const name of needs.filter(isQueue)) queues.work[name].queue.grantSendMessages(handler);
}

/** Every function reads and records its event; only those that need it change purchases or look into an index. */
function tableStatements(table: Table, needs: readonly Need[]): PolicyStatement[] {
  const read = ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:Query', 'dynamodb:BatchWriteItem'];
  const write = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'];
  const looksUp = needs.includes('indexes') ? (['byCreated', 'byKey'] as const) : [];
  const sweeps = needs.includes('due') ? (['due'] as const) : [];
  const arns = [...looksUp, ...sweeps].map((index: keyof typeof indexes) => `${table.tableArn}/index/${index}`);
  return [
    new PolicyStatement({ actions: needs.includes('write') ? [...read, ...write] : read, resources: [table.tableArn] }),
    ...(arns.length > 0 ? [new PolicyStatement({ actions: ['dynamodb:Query'], resources: arns })] : []),
  ];
}
