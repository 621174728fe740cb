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
import { postToEngine } from '../local/table-engine/post-to-engine.ts';
import { fromDynamoJson, toDynamoJson } from './dynamo-json.ts';

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

let isInstalled = false;

/**
 * Sends the item calls of document clients to the table engine of the test run without the SDK. All other calls and
 * endpoints, and calls that the SDK would repeat, still use the SDK.
 */
export function installLightTableCalls(): void {
  if (isInstalled) return;
  isInstalled = true;
  const prototype = DynamoDBDocumentClient.prototype as unknown as { send: Send };
  const sendWithSdk = prototype.send;
  const endpoints = new WeakMap<DynamoDBDocumentClient, string | undefined>();
  prototype.send = async function send(command, ...rest) {
    // As in the SDK, the first call of a client determines its endpoint.
    if (!endpoints.has(this)) endpoints.set(this, findEndpoint(this));
    const endpoint = endpoints.get(this);
    const operation = operations.get(command.constructor);
    if (!endpoint || endpoint !== process.env.TEST_DYNAMODB_ENDPOINT || !operation || rest.length > 0)
      return await sendWithSdk.call(this, command, ...rest);
    const { marshallOptions } = this.config.translateConfig ?? {};
    const body = toDynamoJson(command.input, marshallOptions);
    const { status, text } = await postToEngine(endpoint, `DynamoDB_20120810.${operation}`, body);
    if (status === 200) return { $metadata: {}, ...fromDynamoJson(text) };
    if (status >= 500 || retryableErrors.test(text)) return await sendWithSdk.call(this, command);
    throw toServiceException(JSON.parse(text));
  };
}

const findEndpoint = ({ config }: DynamoDBDocumentClient): string | undefined =>
  config.endpoint === undefined ? process.env.AWS_ENDPOINT_URL_DYNAMODB : undefined;

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
