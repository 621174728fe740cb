import * as v from 'valibot';
import type { Names } from './intrinsics.ts';
import type { Access } from './permissions.ts';
import { resourcesOf, type Template } from './template.ts';

/** A call of an AWS client: `DynamoDB_20120810.Query` and the like, and its parameters. */
interface Call {
  readonly target: string;
  readonly body: string;
}

/** What a call does, in IAM's words. Throws for one that no function makes. */
export type AccessesOf = (call: Call) => readonly Access[];

const Any = v.object({});
const Json = v.pipe(v.string(), v.parseJson());
const OfTable = v.pipe(Json, v.object({ TableName: v.string(), IndexName: v.optional(v.string()) }));
const Batch = v.pipe(Json, v.object({ RequestItems: v.record(v.string(), v.unknown()) }));
const Named = v.object({ TableName: v.string() });
const Transaction = v.pipe(Json, v.object({ TransactItems: v.array(v.record(v.string(), Named)) }));
const OfQueue = v.pipe(Json, v.object({ QueueUrl: v.string() }));
const OfSecret = v.pipe(Json, v.object({ SecretId: v.string() }));

/** Knows the template's tables and queues by the names that clients call them. */
export function accessesIn(template: Template, names: Names): AccessesOf {
  const arnsOf = (type: string) =>
    [...resourcesOf(template, type, { properties: Any, names }).keys()].map(
      (id) => [names.ref(id), names.attribute(id, 'Arn')] as const,
    );
  const arns = new Map([...arnsOf('AWS::DynamoDB::Table'), ...arnsOf('AWS::SQS::Queue')]);
  const arnOf = (name: string): string => arns.get(name) ?? name;
  return ({ target, body }) => {
    const [service = '', operation = ''] = target.split('.');
    if (service === 'secretsmanager') {
      return [{ action: `secretsmanager:${operation}`, resource: v.parse(OfSecret, body).SecretId }];
    }
    if (service === 'AmazonSQS') {
      // A batch needs no permission of its own.
      const action = `sqs:${operation.replace(/Batch$/, '')}`;
      return [{ action, resource: arnOf(v.parse(OfQueue, body).QueueUrl) }];
    }
    if (service.startsWith('DynamoDB_')) return databaseAccesses(operation, body, arnOf);
    throw new Error(`${target} does not run here.`);
  };
}

function databaseAccesses(operation: string, body: string, arnOf: (name: string) => string): Access[] {
  if (operation.startsWith('Batch')) {
    const tables = Object.keys(v.parse(Batch, body).RequestItems);
    return tables.map((table) => ({ action: `dynamodb:${operation}`, resource: arnOf(table) }));
  }
  if (operation.startsWith('Transact')) {
    // Each of its writes needs the permission that it needs by itself.
    return v
      .parse(Transaction, body)
      .TransactItems.flatMap((item) => Object.entries(item))
      .map(([kind, { TableName }]) => ({
        action: `dynamodb:${kind}Item`,
        resource: arnOf(TableName),
      }));
  }
  const { TableName, IndexName } = v.parse(OfTable, body);
  const index = IndexName === undefined ? '' : `/index/${IndexName}`;
  return [{ action: `dynamodb:${operation}`, resource: arnOf(TableName) + index }];
}
