import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRequestHandler } from '../../lib/foundation/outgoing/aws-client.ts';
import { createCheckedHandler } from '../../local/checked-aws-calls.ts';
import { type HttpServer, startHttpServer } from '../../local/http-server.ts';
import { readIamPolicies } from '../../local/iam-policies.ts';
import type { CallDecision } from '../../local/iam-usage.ts';
import { createLocalNames } from '../../local/local-names.ts';

const template = {
  Resources: {
    Table: { Type: 'AWS::DynamoDB::Table' },
    Reader: { Type: 'AWS::Lambda::Function', Properties: { Role: { 'Fn::GetAtt': ['Role', 'Arn'] } } },
    Role: { Type: 'AWS::IAM::Role' },
    Policy: {
      Type: 'AWS::IAM::Policy',
      Properties: {
        Roles: [{ Ref: 'Role' }],
        PolicyDocument: {
          Statement: [{ Effect: 'Allow', Action: 'dynamodb:GetItem', Resource: { 'Fn::GetAtt': ['Table', 'Arn'] } }],
        },
      },
    },
  },
};
const policies = readIamPolicies(template, createLocalNames(template, { run: 'run', getQueueUrl: (name) => name }));
const key = { pk: { S: 'a' }, sk: { S: 'ü' } };
const TableName = 'run-Table';

let engine: HttpServer;
const bodies: string[] = [];
/** Resolves when the engine may respond. */
let mayRespond: Promise<void> | undefined;
const inner = createRequestHandler();
beforeAll(async () => {
  engine = await startHttpServer(async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    await mayRespond;
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ Item: key }));
  });
});
afterAll(async () => {
  inner.destroy();
  await engine.close();
});

/** Creates a client of the function `Reader`. Its endpoint is never called. */
function createClient(isEnded = (): boolean => false) {
  const calls: CallDecision[] = [];
  const caller = { id: 'Reader', isEnded, onCall: (call: CallDecision) => void calls.push(call), onWrite: () => {} };
  const requestHandler = createCheckedHandler(caller, { policies, endpoints: { DynamoDB: engine.url } }, inner);
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
  const options = { endpoint: 'http://127.0.0.1:1', region: 'eu-west-1', credentials, requestHandler };
  return { calls, client: new DynamoDBClient(options) };
}

describe('createCheckedHandler', () => {
  it('sends a call that the policies allow to the engine', async () => {
    const { client, calls } = createClient();
    const { Item } = await client.send(new GetItemCommand({ TableName, Key: key }));
    expect(Item).toEqual(key);
    expect(bodies.map((body) => JSON.parse(body))).toEqual([{ TableName, Key: key }]);
    expect(calls).toEqual([
      {
        callerId: 'Reader',
        target: 'DynamoDB_20120810.GetItem',
        decision: {
          accesses: [{ action: 'dynamodb:GetItem', resource: 'arn:aws:local:eu-west-1:000000000000:Table' }],
        },
      },
    ]);
  });

  it('rejects any other call with AccessDeniedException and does not send it', async () => {
    const { client, calls } = createClient();
    const sent = bodies.length;
    await expect(client.send(new PutItemCommand({ TableName, Item: key }))).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining('Reader is not authorized to perform: dynamodb:PutItem'),
    });
    await expect(client.send(new GetItemCommand({ TableName: 'other', Key: key }))).rejects.toThrow('not authorized');
    expect(bodies).toHaveLength(sent);
    expect(calls.map(({ decision }) => 'denial' in decision)).toEqual([true, true]);
  });

  it('neither sends a call nor returns a response after the end of the instance', async () => {
    let hasEnded = false;
    const { client } = createClient(() => hasEnded);
    const sent = bodies.length;
    const settled: string[] = [];
    const get = async (name: string) => {
      await client.send(new GetItemCommand({ TableName, Key: key }));
      settled.push(name);
    };
    let respond = () => {};
    mayRespond = new Promise((resolve) => {
      respond = resolve;
    });
    void get('in progress');
    while (bodies.length === sent) await sleep(1);
    hasEnded = true;
    respond();
    void get('new');
    await sleep(100);
    expect(settled).toEqual([]);
    expect(bodies).toHaveLength(sent + 1);
  });
});
