import * as v from 'valibot';
import { allowsAccess, type IamAccess, type IamPolicies } from './iam-policies.ts';
import { account, region } from './local-names.ts';

/** A call of an AWS client: the `x-amz-target` header, such as `DynamoDB_20120810.Query`, and the JSON body. */
export interface AwsCall {
  readonly target: string;
  readonly body: string;
}

const Json = v.pipe(v.string(), v.parseJson());
const Batch = v.pipe(Json, v.object({ RequestItems: v.record(v.string(), v.unknown()) }));
const StoredKey = v.object({ pk: v.object({ S: v.string() }) });

/** A write of one item, by its key or with all of its attributes. */
const Write = v.object({ TableName: v.string(), Key: v.optional(StoredKey), Item: v.optional(StoredKey) });
const TableCall = v.pipe(Json, v.object({ ...Write.entries, IndexName: v.optional(v.string()) }));
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

/** The accesses of a call that is allowed, or the reason why it is denied. */
export type IamDecision = { readonly accesses: readonly IamAccess[] } | { readonly denial: string };

export function decideAccess(policies: IamPolicies, callerId: string, call: AwsCall): IamDecision {
  try {
    const accesses = toIamAccesses(policies, call);
    const denied = accesses.find((access) => !allowsAccess(policies, callerId, access));
    return denied
      ? { denial: `${callerId} is not authorized to perform: ${denied.action} on resource: ${denied.resource}` }
      : { accesses };
  } catch (error) {
    return { denial: `${callerId}: ${String(error)}` };
  }
}

export const isTableWrite = ({ target }: AwsCall): boolean =>
  /^DynamoDB_\d+\.(?:Put|Update|Delete|BatchWrite|TransactWrite)Items?$/.test(target);

/** Returns the service of a call: `DynamoDB`, `AmazonSQS` or `secretsmanager`. */
export const getServiceName = ({ target }: AwsCall): string => target.split(/[._]/)[0] ?? '';

/** Converts an AWS call to the IAM actions it performs. Throws for a service that does not run on this machine. */
function toIamAccesses(policies: IamPolicies, { target, body }: AwsCall): readonly IamAccess[] {
  const [service = '', operation = ''] = target.split('.');
  if (service === 'secretsmanager')
    return [{ action: `secretsmanager:${operation}`, resource: v.parse(SecretCall, body).SecretId }];
  if (service === 'AmazonSQS') {
    // SQS batch calls use the permission of the single call.
    const action = `sqs:${operation.replace(/Batch$/, '')}`;
    return [{ action, resource: toQueueArn(policies, v.parse(QueueCall, body).QueueUrl) }];
  }
  if (service.startsWith('DynamoDB_')) return toDynamoDbAccesses(operation, body, (name) => toTableArn(policies, name));
  throw new Error(`${target} does not run on this machine.`);
}

const toQueueArn = ({ arns }: IamPolicies, url: string): string => arns.get(url) ?? url;

// A table that the template adopts has the ARN of a deployment.
const toTableArn = ({ arns }: IamPolicies, name: string): string =>
  arns.get(name) ?? `arn:aws:dynamodb:${region}:${account}:table/${name}`;

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
  const { IndexName, ...write } = v.parse(TableCall, body);
  const index = IndexName === undefined ? '' : `/index/${IndexName}`;
  const leadingKeys = writeOperations.has(operation) && { leadingKeys: listLeadingKeys(write) };
  return [{ action: `dynamodb:${operation}`, resource: toArn(write.TableName) + index, ...leadingKeys }];
}

const writeOperations: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

const listLeadingKeys = ({ Key, Item }: v.InferOutput<typeof Write>): string[] => listDefined(Key?.pk.S, Item?.pk.S);

const listDefined = (...values: readonly (string | undefined)[]): string[] =>
  values.filter((value) => value !== undefined);
