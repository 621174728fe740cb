import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ConnectionOptions, connectToService } from '../../cli/connect.ts';
import { omitUndefined } from '../../lib/foundation/omit-undefined.ts';
import { type HttpServer, startHttpServer } from '../../local/http-server.ts';
import { startSecretsManager } from '../../local/secrets-manager.ts';
import { spawnCommand } from '../../testing/command-line.ts';
import { createUniqueName } from '../../testing/given.ts';
import { createTestTable } from '../../testing/table.ts';

const stackId = 'arn:aws:cloudformation:eu-west-1:123456789012:stack/Claimcheck-test/5d1f3f60';
const claimcheck = 'Claimcheck: purchase validation and entitlements';

/**
 * The response of DescribeStacks in the Query protocol.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 */
const buildResponse = (outputs: object, { status = 'UPDATE_COMPLETE', description = claimcheck } = {}): string =>
  `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
  <StackName>Claimcheck-test</StackName><StackId>${stackId}</StackId><Description>${description}</Description>
  <CreationTime>2026-07-27T22:26:28Z</CreationTime><StackStatus>${status}</StackStatus><DisableRollback>false</DisableRollback>
  <Outputs>${Object.entries(outputs)
    .map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`)
    .join('')}</Outputs>
  </member></Stacks></DescribeStacksResult>
  <ResponseMetadata><RequestId>b9b4b068-3a41-11e5-94eb-example</RequestId></ResponseMetadata></DescribeStacksResponse>`;

const buildError = (code: string, message: string): string =>
  `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>4a12</RequestId></ErrorResponse>`;

const masterKeyId = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:MasterKey';
const tableName = createUniqueName('stack');
const outputs = {
  ApiUrl: 'https://api.example.com/',
  TableName: tableName,
  MasterKeyId: masterKeyId,
  WebhooksQueueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/webhooks',
};

interface DescribeRequest {
  readonly body: URLSearchParams;
  /** Access key id and region of the signature. */
  readonly signer: string;
  readonly region: string;
}

const requests: DescribeRequest[] = [];
let response: { status: number; body: string };
let cloudFormation: HttpServer;
let secretsManager: HttpServer;
let folder: string;
beforeAll(async () => {
  await createTestTable(tableName);
  secretsManager = await startSecretsManager({ [masterKeyId]: 'the-master-key-of-this-test' });
  cloudFormation = await startHttpServer(async (request, reply) => {
    const [, signer = '', region = ''] =
      /Credential=([^/]+)\/\d+\/([^/]+)/.exec(request.headers.authorization ?? '') ?? [];
    requests.push({ body: new URLSearchParams(await text(request)), signer, region });
    reply.writeHead(response.status, { 'content-type': 'text/xml' }).end(response.body);
  });
  folder = mkdtempSync(join(tmpdir(), 'claimcheck-aws-'));
  const credentials = '[support]\naws_access_key_id = PROFILE\naws_secret_access_key = secret\n';
  writeFileSync(join(folder, 'credentials'), credentials);
  writeFileSync(join(folder, 'config'), '[profile support]\nregion = eu-north-1\n');
});
afterAll(async () => {
  await cloudFormation.close();
  await secretsManager.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  requests.length = 0;
  response = { status: 200, body: buildResponse(outputs) };
});

type Environment = Readonly<Record<string, string | undefined>>;

const buildEnvironment = (changes: Environment): Environment => ({
  AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager.url,
  AWS_ACCESS_KEY_ID: 'ENVIRONMENT',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'eu-west-1',
  AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
  AWS_CONFIG_FILE: join(folder, 'config'),
  AWS_EC2_METADATA_DISABLED: 'true',
  TABLE_NAME: undefined,
  MASTER_KEY_ID: undefined,
  ...changes,
});

/** Runs a command with credentials in the environment. */
const cli = async (args: readonly string[], environment: Environment = {}) =>
  await spawnCommand(buildEnvironment(environment), args);

/** Connects this process as a command does, and returns the environment that the command then has. */
async function connect(options: Partial<ConnectionOptions>, changes: Environment = {}): Promise<NodeJS.ProcessEnv> {
  const realEnvironment = process.env;
  process.env = omitUndefined({ ...realEnvironment, ...buildEnvironment(changes) });
  try {
    await connectToService({ folder, ...options });
    return process.env;
  } finally {
    process.env = realEnvironment;
  }
}

describe('claimcheck --stack', () => {
  it('uses the table and the master key of the stack outputs', async () => {
    expect(await cli(['--stack', 'Claimcheck-test', 'app', 'create', 'of-the-stack'])).toMatchObject({
      code: 0,
      error: '',
    });
    expect((await cli(['--stack', 'Claimcheck-test', 'app', 'list'])).out).toContain('of-the-stack');
    const [request] = requests;
    expect(Object.fromEntries(request?.body ?? [])).toMatchObject({
      Action: 'DescribeStacks',
      StackName: 'Claimcheck-test',
    });
    expect(request).toMatchObject({ signer: 'ENVIRONMENT', region: 'eu-west-1' });
  });

  it('reads the name of the stack from CLAIMCHECK_STACK, unless the command has another service', async () => {
    const environment = { CLAIMCHECK_STACK: 'Claimcheck-default' };
    expect(await connect({}, environment)).toMatchObject({ TABLE_NAME: tableName, MASTER_KEY_ID: masterKeyId });
    expect(requests[0]?.body.get('StackName')).toBe('Claimcheck-default');
    const other = await connect({ table: 'another-table', masterKey: 'another-key' }, environment);
    expect(other).toMatchObject({ TABLE_NAME: 'another-table', MASTER_KEY_ID: 'another-key' });
    expect(requests).toHaveLength(1);
  });

  it('uses the credentials of --profile and its region, or --region', async () => {
    expect(await cli(['--stack', 'x', '--profile', 'support', 'app', 'list'], { AWS_REGION: undefined })).toMatchObject(
      {
        code: 0,
        error: '',
      },
    );
    expect(requests[0]).toMatchObject({ signer: 'PROFILE', region: 'eu-north-1' });
    await connect({ stack: 'x', profile: 'support', region: 'us-east-2' });
    expect(requests[1]).toMatchObject({ signer: 'PROFILE', region: 'us-east-2' });
  });

  it('prefers --table, --master-key and --webhooks-queue to the outputs', async () => {
    const options = { table: 'another-table', masterKey: 'another-key', webhooksQueue: 'https://sqs/q' };
    expect(await connect({ stack: 'x', ...options })).toMatchObject({
      TABLE_NAME: 'another-table',
      MASTER_KEY_ID: 'another-key',
      WEBHOOKS_QUEUE_URL: 'https://sqs/q',
    });
  });

  it('rejects an unknown stack', async () => {
    response = { status: 400, body: buildError('ValidationError', 'Stack with id x does not exist') };
    await expect(connect({ stack: 'x' })).rejects.toThrow(
      'The stack x is not found in eu-west-1. Check --stack, --region and the account of --profile.',
    );
  });

  it('rejects a stack that is not of Claimcheck', async () => {
    response = { status: 200, body: buildResponse({ Bucket: 'photos' }, { description: 'Photos' }) };
    await expect(connect({ stack: 'photos' })).rejects.toThrow(
      'The stack photos is not a stack of Claimcheck. Check --stack.',
    );
  });

  it('reports an output that an earlier version lacks, with the option that replaces it', async () => {
    const { WebhooksQueueUrl: _webhooks, ...earlier } = outputs;
    response = { status: 200, body: buildResponse(earlier) };
    await expect(connect({ stack: 'x' })).rejects.toThrow(
      'The stack x lacks the output WebhooksQueueUrl: it was deployed by an earlier version. Deploy this version, or pass --webhooks-queue.',
    );
    expect(await connect({ stack: 'x', webhooksQueue: 'https://sqs/q' })).toMatchObject({ TABLE_NAME: tableName });
  });

  it('reports the status of a stack that has not been created completely', async () => {
    response = { status: 200, body: buildResponse({}, { status: 'ROLLBACK_COMPLETE' }) };
    await expect(connect({ stack: 'x' })).rejects.toThrow(/lacks outputs: its status is ROLLBACK_COMPLETE/);
  });

  it('reports missing credentials, a missing region and an unknown profile', async () => {
    const none = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
    await expect(connect({ stack: 'x' }, none)).rejects.toThrow(/AWS credentials are missing. Pass --profile/);
    await expect(connect({ stack: 'x' }, { AWS_REGION: undefined })).rejects.toThrow(/Pass --region/);
    await expect(connect({ stack: 'x', profile: 'unknown' })).rejects.toThrow(/credentials are missing/);
  });

  it.each([
    ['AccessDenied', 403, 'The credentials may not read the stack x.'],
    ['ExpiredToken', 403, 'AWS rejects the credentials'],
    ['InternalFailure', 500, 'CloudFormation is unavailable.'],
  ])('reports the error %s of CloudFormation', async (code, status, message) => {
    response = { status, body: buildError(code, 'The reason of AWS') };
    await expect(connect({ stack: 'x' })).rejects.toMatchObject({
      message: expect.stringContaining(message),
      cause: { message: expect.stringContaining('The reason of AWS') },
    });
  });

  it('prints the error of the connection with its cause, and ends with 1', async () => {
    response = { status: 403, body: buildError('AccessDenied', 'The reason of AWS') };
    expect(await cli(['--stack', 'x', 'app', 'list'])).toEqual({
      code: 1,
      out: '',
      error: expect.stringMatching(/^The credentials may not read the stack x\..*\nCause: .*The reason of AWS\n$/),
    });
  });

  it('rejects --stack together with --local', async () => {
    expect(await cli(['--local', '--stack', 'x', 'app', 'list'])).toMatchObject({ code: 2, out: '' });
  });
});

describe('claimcheck --table', () => {
  const denied = 'User: arn:aws:iam::123456789012:user/support is not authorized';
  const listApps = async (environment: Environment, ...options: readonly string[]) =>
    await cli(['--table', 'my-table', '--master-key', 'my-key', ...options, 'app', 'list'], {
      AWS_ENDPOINT_URL_DYNAMODB: cloudFormation.url,
      ...environment,
    });

  it.each([
    ['ResourceNotFoundException', 'Requested resource not found', 'The table my-table is not found. Check --table and'],
    ['AccessDeniedException', denied, 'The credentials may not use the table my-table. Attach the policy'],
    ['ExpiredTokenException', 'The security token is expired', 'AWS rejects the credentials: they are expired'],
    ['InvalidSignatureException', 'The signature does not match', 'AWS rejects the credentials: they are expired'],
  ])('reports the error %s of DynamoDB', async (name, message, expected) => {
    const body = { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message };
    response = { status: 400, body: JSON.stringify(body) };
    const { code, error } = await listApps({});
    expect({ code, lines: error.split('\n') }).toEqual({
      code: 1,
      lines: [expect.stringContaining(expected), expect.stringContaining(message), ''],
    });
  });

  it('reports missing credentials, a missing region and an unknown profile', async () => {
    const none = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
    expect(await listApps(none)).toMatchObject({
      code: 1,
      error: expect.stringContaining('AWS credentials are missing. Pass --profile'),
    });
    expect(await listApps({ AWS_REGION: undefined })).toMatchObject({
      code: 1,
      error: expect.stringContaining('The AWS region is missing. Pass --region'),
    });
    expect(await listApps({}, '--profile', 'unknown')).toMatchObject({
      code: 1,
      error: expect.stringContaining('AWS credentials are missing in the profile unknown.'),
    });
  });
});
