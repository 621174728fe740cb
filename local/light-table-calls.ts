import {
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { fromDynamoJson, toDynamoJson } from './dynamo-json.ts';
import { type Connection, postToEngine } from './table-engine/post-to-engine.ts';

type Send = (this: DynamoDBDocumentClient, command: { readonly input: object }, ...rest: unknown[]) => Promise<unknown>;

const operations = new Map<unknown, string>([
  [BatchGetCommand, 'BatchGetItem'],
  [BatchWriteCommand, 'BatchWriteItem'],
  [DeleteCommand, 'DeleteItem'],
  [GetCommand, 'GetItem'],
  [PutCommand, 'PutItem'],
  [QueryCommand, 'Query'],
  [ScanCommand, 'Scan'],
  [TransactWriteCommand, 'TransactWriteItems'],
  [UpdateCommand, 'UpdateItem'],
]);

/** Codes of errors after which the SDK repeats a call. */
const retryableErrors = /Throttl|ThroughputExceeded|InternalServerError|TransactionInProgress/;

const lightEndpoints = new Set<string>();

/**
 * Sends the item calls of document clients to this table engine, or to an IAM proxy of it, without the SDK. All other
 * calls and endpoints, and calls that the SDK would repeat, still use the SDK.
 */
export function installLightTableCalls(lightEndpoint: string | undefined): void {
  if (lightEndpoint === undefined) return;
  const isInstalled = lightEndpoints.size > 0;
  lightEndpoints.add(lightEndpoint);
  if (isInstalled) return;
  const prototype = DynamoDBDocumentClient.prototype as unknown as { send: Send };
  const sendWithSdk = prototype.send;
  const connections = new WeakMap<DynamoDBDocumentClient, Connection>();
  prototype.send = async function send(command, ...rest) {
    // As in the SDK, the first call of a client determines its endpoint and its credentials.
    const connection = connections.get(this) ?? readConnection(this);
    connections.set(this, connection);
    const operation = operations.get(command.constructor);
    if (!lightEndpoints.has(connection.endpoint) || !operation || rest.length > 0)
      return await sendWithSdk.call(this, command, ...rest);
    const { marshallOptions } = this.config.translateConfig ?? {};
    const body = toDynamoJson(command.input, marshallOptions);
    const target = `DynamoDB_20120810.${operation}`;
    // The SDK repeats a call whose connection breaks.
    const response = await postToEngine(connection, target, body).catch(() => undefined);
    if (response?.status === 200) return { $metadata: {}, ...fromDynamoJson(response.text) };
    if (!response || response.status >= 500 || retryableErrors.test(response.text))
      return await sendWithSdk.call(this, command);
    throw toServiceException(JSON.parse(response.text));
  };
}

const readConnection = ({ config }: DynamoDBDocumentClient): Connection => {
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint = '', AWS_ACCESS_KEY_ID: accessKeyId } = process.env;
  return { endpoint: config.endpoint === undefined ? endpoint : '', accessKeyId };
};

interface ErrorBody {
  readonly __type: string;
  readonly message?: string;
  readonly Message?: string;
  readonly CancellationReasons?: { Code?: string; Message?: string }[];
}

function toServiceException({ __type, message = '', Message = message, CancellationReasons }: ErrorBody) {
  const name = __type.split('#').at(-1) ?? '';
  const options = { name, message: Message, $fault: 'client', $metadata: { httpStatusCode: 400 } } as const;
  if (name === 'ConditionalCheckFailedException') return new ConditionalCheckFailedException(options);
  if (name === 'TransactionCanceledException' && CancellationReasons)
    return new TransactionCanceledException({ ...options, CancellationReasons });
  return new DynamoDBServiceException(options);
}
