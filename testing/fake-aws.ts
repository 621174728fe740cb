import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { indexes } from '../lib/foundation/key.ts';
import { type HttpServer, startHttpServer } from '../local/http-server.ts';

/** Configuration of a deployment that the fake returns. Tests change its members. */
export interface FakeAccount {
  /** Outputs of every stack. */
  outputs: Readonly<Record<string, string>>;
  /** Subscriptions of the alarm topic: ARN and endpoint. */
  subscriptions: { readonly arn: string; readonly endpoint: string }[];
  concurrentExecutions: number;
  hasRecovery: boolean;
  isProtected: boolean;
  ttlAttribute: string | undefined;
  streamView: string | undefined;
  streamArn: string;
  /** Event source mappings: state and last result of each. Without an ARN, it is one of the stream. */
  mappings: readonly {
    readonly State: string;
    readonly LastProcessingResult: string;
    readonly EventSourceArn?: string;
  }[];
  indexes: readonly string[];
  /** Actions that are denied, such as `sns:ListSubscriptionsByTopic`. */
  denied: string[];
}

export interface FakeAws extends HttpServer {
  readonly account: FakeAccount;
  /** IAM actions of all calls so far. */
  readonly actions: ReadonlySet<string>;
  /** Variables that point the AWS clients of a process to the fake. */
  readonly environment: Readonly<Record<string, string>>;
}

const createAccount = (): FakeAccount => ({
  outputs: {},
  subscriptions: [{ arn: 'arn:aws:sns:eu-west-1:123456789012:alarms:1', endpoint: 'ops@example.com' }],
  concurrentExecutions: 1_000,
  hasRecovery: true,
  isProtected: true,
  ttlAttribute: 'ttl',
  streamView: 'NEW_AND_OLD_IMAGES',
  streamArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/table/stream/2026-01-01T00:00:00.000',
  mappings: [
    { State: 'Enabled', LastProcessingResult: 'OK' },
    { State: 'Enabled', LastProcessingResult: 'No records processed' },
  ],
  indexes: Object.keys(indexes),
  denied: [],
});

/**
 * Starts a server with the protocols of CloudFormation, SNS, Lambda and the configuration of DynamoDB. Other DynamoDB
 * calls are forwarded to the table engine.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 * @see https://docs.aws.amazon.com/sns/latest/api/API_ListSubscriptionsByTopic.html
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_ListEventSourceMappings.html
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeContinuousBackups.html
 */
export async function startFakeAws(databaseEndpoint: string): Promise<FakeAws> {
  const account = createAccount();
  const actions = new Set<string>();
  const server = await startHttpServer(async (request, response) => {
    const body = await text(request);
    const action = toAction(request, body);
    const handler = handlers[action];
    if (!handler) return await forward(request, { body, response, to: databaseEndpoint });
    actions.add(action);
    if (account.denied.includes(action)) return respondDenied(action, response);
    handler(account, response, request.url ?? '');
  });
  return {
    ...server,
    account,
    actions,
    environment: {
      AWS_ENDPOINT_URL_CLOUDFORMATION: server.url,
      AWS_ENDPOINT_URL_SNS: server.url,
      AWS_ENDPOINT_URL_LAMBDA: server.url,
      AWS_ENDPOINT_URL_DYNAMODB: server.url,
    },
  };
}

/** SNS and CloudFormation have the action in the form, DynamoDB in a header, and Lambda in the path. */
function toAction({ headers, url = '' }: IncomingMessage, body: string): string {
  const target = headers['x-amz-target'];
  if (typeof target === 'string') return `dynamodb:${target.split('.')[1]}`;
  if (url.startsWith('/2016-08-19/account-settings')) return 'lambda:GetAccountSettings';
  if (url.startsWith('/2015-03-31/event-source-mappings')) return 'lambda:ListEventSourceMappings';
  const action = new URLSearchParams(body).get('Action');
  return action === 'DescribeStacks' ? `cloudformation:${action}` : `sns:${action}`;
}

type Handler = (account: FakeAccount, response: ServerResponse, url: string) => void;

const respondJson = (response: ServerResponse, body: object): void =>
  void response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));

const handlers: Readonly<Record<string, Handler>> = {
  'cloudformation:DescribeStacks': ({ outputs }, response) => {
    const members = Object.entries(outputs).map(
      ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
    );
    response
      .writeHead(200, { 'content-type': 'text/xml' })
      .end(
        `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member><StackName>Claimcheck-test</StackName><CreationTime>2026-07-27T22:26:28Z</CreationTime><StackStatus>UPDATE_COMPLETE</StackStatus><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></DescribeStacksResponse>`,
      );
  },
  'sns:ListSubscriptionsByTopic': ({ subscriptions }, response) => {
    const members = subscriptions.map(
      ({ arn, endpoint }) =>
        `<member><TopicArn>topic</TopicArn><Protocol>email</Protocol><SubscriptionArn>${arn}</SubscriptionArn><Owner>123456789012</Owner><Endpoint>${endpoint}</Endpoint></member>`,
    );
    response
      .writeHead(200, { 'content-type': 'text/xml' })
      .end(
        `<ListSubscriptionsByTopicResponse xmlns="https://sns.amazonaws.com/doc/2010-03-31/"><ListSubscriptionsByTopicResult><Subscriptions>${members.join('')}</Subscriptions></ListSubscriptionsByTopicResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></ListSubscriptionsByTopicResponse>`,
      );
  },
  'lambda:GetAccountSettings': ({ concurrentExecutions }, response) =>
    respondJson(response, {
      AccountLimit: {
        ConcurrentExecutions: concurrentExecutions,
        UnreservedConcurrentExecutions: concurrentExecutions,
      },
      AccountUsage: { FunctionCount: 50 },
    }),
  'lambda:ListEventSourceMappings': ({ mappings, streamArn }, response, url) => {
    const all = mappings.map((mapping, index) => ({
      UUID: `mapping-${index}`,
      FunctionArn: `arn:aws:lambda:eu-west-1:123456789012:function:worker-${index}:live`,
      EventSourceArn: streamArn,
      ...mapping,
    }));
    const source = new URLSearchParams(url.split('?')[1]).get('EventSourceArn');
    respondJson(response, { EventSourceMappings: all.filter(({ EventSourceArn }) => EventSourceArn === source) });
  },
  'dynamodb:DescribeTable': ({ isProtected, streamView, streamArn, indexes: names }, response) =>
    respondJson(response, {
      Table: {
        TableName: 'table',
        DeletionProtectionEnabled: isProtected,
        LatestStreamArn: streamArn,
        GlobalSecondaryIndexes: names.map((name) => ({ IndexName: name, IndexStatus: 'ACTIVE' })),
        ...(streamView && { StreamSpecification: { StreamEnabled: true, StreamViewType: streamView } }),
      },
    }),
  'dynamodb:DescribeContinuousBackups': ({ hasRecovery }, response) =>
    respondJson(response, {
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: hasRecovery ? 'ENABLED' : 'DISABLED' },
      },
    }),
  'dynamodb:DescribeTimeToLive': ({ ttlAttribute }, response) =>
    respondJson(response, {
      TimeToLiveDescription: ttlAttribute
        ? { TimeToLiveStatus: 'ENABLED', AttributeName: ttlAttribute }
        : { TimeToLiveStatus: 'DISABLED' },
    }),
};

function respondDenied(action: string, response: ServerResponse): void {
  const message = `User: arn:aws:iam::123456789012:user/ann is not authorized to perform: ${action}`;
  if (action.startsWith('sns:')) {
    response
      .writeHead(403, { 'content-type': 'text/xml' })
      .end(
        `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>AuthorizationError</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
      );
    return;
  }
  response
    .writeHead(action.startsWith('lambda:') ? 403 : 400, {
      'content-type': 'application/x-amz-json-1.0',
      'x-amzn-errortype': 'AccessDeniedException',
    })
    .end(JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', Message: message }));
}

async function forward(
  { method = 'POST', headers }: IncomingMessage,
  { body, response, to }: { readonly body: string; readonly response: ServerResponse; readonly to: string },
): Promise<void> {
  const { host: _host, connection: _connection, 'content-length': _length, ...forwarded } = headers;
  const result = await fetch(to, { method, headers: forwarded as Record<string, string>, body });
  response.writeHead(result.status, { 'content-type': result.headers.get('content-type') ?? '' });
  response.end(await result.text());
}
