import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type SecretsManager, startSecretsManager } from '../../local/secrets-manager.ts';
import { type CommandOutcome, spawnCommand } from '../../testing/command-line.ts';
import { createUniqueName } from '../../testing/given.ts';
import { type HttpServer, startHttpServer } from '../../testing/http-server.ts';
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
let secretsManager: SecretsManager;
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

/** Runs a command with credentials in the environment. */
const cli = async (args: readonly string[], environment: Record<string, string | undefined> = {}) =>
  await spawnCommand(
    {
      AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager.endpoint,
      AWS_ACCESS_KEY_ID: 'ENVIRONMENT',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'eu-west-1',
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
      AWS_CONFIG_FILE: join(folder, 'config'),
      AWS_EC2_METADATA_DISABLED: 'true',
      TABLE_NAME: undefined,
      MASTER_KEY_ID: undefined,
      ...environment,
    },
    args,
  );

const failWith = async (args: readonly string[], environment?: Record<string, string | undefined>) => {
  const { code, out, error }: CommandOutcome = await cli(args, environment);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  return error.split('\n')[0];
};

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
    expect(await cli(['app', 'list'], environment)).toMatchObject({ code: 0 });
    expect(requests[0]?.body.get('StackName')).toBe('Claimcheck-default');
    const other = ['--table', tableName, '--master-key', masterKeyId];
    expect(await cli([...other, 'app', 'list'], environment)).toMatchObject({ code: 0 });
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
    await cli(['--stack', 'x', '--profile', 'support', '--region', 'us-east-2', 'app', 'list']);
    expect(requests[1]).toMatchObject({ signer: 'PROFILE', region: 'us-east-2' });
  });

  it('prefers --table, --master-key and --webhooks-queue to the outputs', async () => {
    response = { status: 200, body: buildResponse({ ...outputs, TableName: 'missing-table' }) };
    expect(await cli(['--stack', 'x', '--table', tableName, 'app', 'list'])).toMatchObject({ code: 0 });
  });

  it('rejects an unknown stack', async () => {
    response = { status: 400, body: buildError('ValidationError', 'Stack with id x does not exist') };
    expect(await failWith(['--stack', 'x', 'app', 'list'])).toBe(
      'The stack x is not found in eu-west-1. Check --stack, --region and the account of --profile.',
    );
  });

  it('rejects a stack that is not of Claimcheck', async () => {
    response = { status: 200, body: buildResponse({ Bucket: 'photos' }, { description: 'Photos' }) };
    expect(await failWith(['--stack', 'photos', 'app', 'list'])).toBe(
      'The stack photos is not a stack of Claimcheck. Check --stack.',
    );
  });

  it('reports an output that an earlier version lacks, with the option that replaces it', async () => {
    const { WebhooksQueueUrl: _webhooks, ...earlier } = outputs;
    response = { status: 200, body: buildResponse(earlier) };
    expect(await failWith(['--stack', 'x', 'app', 'list'])).toBe(
      'The stack x lacks the output WebhooksQueueUrl: it was deployed by an earlier version. Deploy this version, or pass --webhooks-queue.',
    );
    expect(await cli(['--stack', 'x', '--webhooks-queue', 'https://sqs/q', 'app', 'list'])).toMatchObject({ code: 0 });
  });

  it('reports the status of a stack that has not been created completely', async () => {
    response = { status: 200, body: buildResponse({}, { status: 'ROLLBACK_COMPLETE' }) };
    expect(await failWith(['--stack', 'x', 'app', 'list'])).toMatch(/lacks outputs: its status is ROLLBACK_COMPLETE/);
  });

  it('reports missing credentials, a missing region and an unknown profile', async () => {
    const none = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };
    expect(await failWith(['--stack', 'x', 'app', 'list'], none)).toMatch(
      /AWS credentials are missing. Pass --profile/,
    );
    expect(await failWith(['--stack', 'x', 'app', 'list'], { AWS_REGION: undefined })).toMatch(/Pass --region/);
    expect(await failWith(['--stack', 'x', '--profile', 'unknown', 'app', 'list'])).toMatch(/credentials are missing/);
  });

  it.each([
    ['AccessDenied', 403, 'The credentials may not read the stack x.'],
    ['ExpiredToken', 403, 'AWS rejects the credentials'],
    ['InternalFailure', 500, 'CloudFormation is unavailable.'],
  ])('reports the error %s of CloudFormation', async (code, status, message) => {
    response = { status, body: buildError(code, 'The reason of AWS') };
    const { error } = await cli(['--stack', 'x', 'app', 'list']);
    expect(error).toContain(message);
    expect(error).toContain('The reason of AWS');
  });

  it('rejects --stack together with --local', async () => {
    expect(await cli(['--local', '--stack', 'x', 'app', 'list'])).toMatchObject({ code: 2, out: '' });
  });
});
