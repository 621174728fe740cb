import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
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

const agent = new Agent({ keepAlive: true });

let isInstalled = false;

/**
 * Sends the item calls of document clients to the table engine of the test run without the middleware of the SDK, which
 * takes two thirds of the processor time of a call. All other calls and endpoints, and calls that the SDK would repeat,
 * still use the SDK.
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
    const { status, text } = await post(endpoint, operation, toDynamoJson(command.input, marshallOptions));
    if (status === 200) return { $metadata: {}, ...fromDynamoJson(text) };
    if (status >= 500 || retryableErrors.test(text)) return await sendWithSdk.call(this, command);
    throw toServiceException(JSON.parse(text));
  };
}

const findEndpoint = ({ config }: DynamoDBDocumentClient): string | undefined =>
  config.endpoint === undefined ? process.env.AWS_ENDPOINT_URL_DYNAMODB : undefined;

async function post(endpoint: string, operation: string, body: string): Promise<{ status: number; text: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(body),
      'x-amz-date': '20260101T000000Z',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      // The engines require a signature and do not verify it.
      authorization:
        'AWS4-HMAC-SHA256 Credential=local/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    };
    request(endpoint, { method: 'POST', agent, headers }, resolve).on('error', reject).end(body);
  });
  return { status: response.statusCode ?? 0, text: (await buffer(response)).toString('utf8') };
}

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
