import * as v from 'valibot';
import type { IamAccess } from './iam-policies.ts';
import type { TemplateNames } from './intrinsics.ts';
import { account, region } from './local-names.ts';
import { listResources, type Template } from './template.ts';

/** A call of an AWS client: the `x-amz-target` header, such as `DynamoDB_20120810.Query`, and the JSON body. */
interface AwsCall {
  readonly target: string;
  readonly body: string;
}

/** Converts an AWS call to the IAM actions it performs. Throws for a service that does not run on this machine. */
export type ToIamAccesses = (call: AwsCall) => readonly IamAccess[];

const Any = v.object({});
const Json = v.pipe(v.string(), v.parseJson());
const TableCall = v.pipe(Json, v.object({ TableName: v.string(), IndexName: v.optional(v.string()) }));
const Batch = v.pipe(Json, v.object({ RequestItems: v.record(v.string(), v.unknown()) }));
const StoredKey = v.object({ pk: v.object({ S: v.string() }) });

/** A write of one item, by its key or with all of its attributes. */
const Write = v.object({ TableName: v.string(), Key: v.optional(StoredKey), Item: v.optional(StoredKey) });
const Transaction = v.pipe(Json, v.object({ TransactItems: v.array(v.record(v.string(), Write)) }));
const BatchRequests = v.array(
  v.object({
    PutRequest: v.optional(v.object({ Item: StoredKey })),
    DeleteRequest: v.optional(v.object({ Key: StoredKey })),
  }),
);
const BatchWrite = v.pipe(Json, v.object({ RequestItems: v.record(v.string(), BatchRequests) }));
const QueueCall = v.pipe(Json, v.object({ QueueUrl: v.string() }));
const SecretCall = v.pipe(Json, v.object({ SecretId: v.string() }));

/** Creates the converter for the tables and queues of a template. */
export function createAccessResolver(template: Template, names: TemplateNames): ToIamAccesses {
  const listArns = (type: string) =>
    [...listResources(template, type, { properties: Any, names }).keys()].map(
      (id) => [names.ref(id), names.attribute(id, 'Arn')] as const,
    );
  const arns = new Map([...listArns('AWS::DynamoDB::Table'), ...listArns('AWS::SQS::Queue')]);
  const toArn = (name: string): string => arns.get(name) ?? name;
  // A table that the template adopts has the ARN of a deployment.
  const toTableArn = (name: string): string => arns.get(name) ?? `arn:aws:dynamodb:${region}:${account}:table/${name}`;
  return ({ target, body }) => {
    const [service = '', operation = ''] = target.split('.');
    if (service === 'secretsmanager') {
      return [{ action: `secretsmanager:${operation}`, resource: v.parse(SecretCall, body).SecretId }];
    }
    if (service === 'AmazonSQS') {
      // SQS batch calls use the permission of the single call.
      const action = `sqs:${operation.replace(/Batch$/, '')}`;
      return [{ action, resource: toArn(v.parse(QueueCall, body).QueueUrl) }];
    }
    if (service.startsWith('DynamoDB_')) return toDynamoDbAccesses(operation, body, toTableArn);
    throw new Error(`${target} does not run on this machine.`);
  };
}

function toDynamoDbAccesses(operation: string, body: string, toArn: (name: string) => string): IamAccess[] {
  if (operation === 'BatchWriteItem') {
    const requests = Object.entries(v.parse(BatchWrite, body).RequestItems);
    return requests.map(([table, writes]) => ({
      action: `dynamodb:${operation}`,
      resource: toArn(table),
      leadingKeys: writes.flatMap(({ PutRequest, DeleteRequest }) =>
        listDefined(PutRequest?.Item.pk.S, DeleteRequest?.Key.pk.S),
      ),
    }));
  }
  if (operation.startsWith('Batch')) {
    const tables = Object.keys(v.parse(Batch, body).RequestItems);
    return tables.map((table) => ({ action: `dynamodb:${operation}`, resource: toArn(table) }));
  }
  if (operation.startsWith('Transact')) {
    // Each write of a transaction needs the permission of the single write.
    return v
      .parse(Transaction, body)
      .TransactItems.flatMap((item) => Object.entries(item))
      .map(([kind, write]) => ({
        action: `dynamodb:${kind}Item`,
        resource: toArn(write.TableName),
        leadingKeys: listLeadingKeys(write),
      }));
  }
  if (writeOperations.has(operation)) {
    const write = v.parse(v.pipe(Json, Write), body);
    return [{ action: `dynamodb:${operation}`, resource: toArn(write.TableName), leadingKeys: listLeadingKeys(write) }];
  }
  const { TableName, IndexName } = v.parse(TableCall, body);
  const index = IndexName === undefined ? '' : `/index/${IndexName}`;
  return [{ action: `dynamodb:${operation}`, resource: toArn(TableName) + index }];
}

const writeOperations: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

const listLeadingKeys = ({ Key, Item }: v.InferOutput<typeof Write>): string[] => listDefined(Key?.pk.S, Item?.pk.S);

const listDefined = (...values: readonly (string | undefined)[]): string[] =>
  values.filter((value) => value !== undefined);
