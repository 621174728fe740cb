import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { minBootstrapVersion } from '../../cli/preflight/checks.ts';
import { backupCopyUsdPerGb, backupUsdPerGb, idleUsd, webAclUsd } from '../../infra/option-prices.ts';
import { type HttpServer, startHttpServer } from '../../local/http-server.ts';
import { runCommand } from '../../testing/command-line.ts';
import { listTableRows, readDocument } from '../../testing/documents.ts';
import { listProperties, readStack } from '../../testing/stack-templates.ts';

interface StackState {
  readonly description?: string;
  readonly status?: string;
  readonly version?: number;
}

const bootstrapped = { CDKToolkit: { version: minBootstrapVersion } };
const account: { stacks: Record<string, StackState>; executions: number; domainOwner: string | undefined } = {
  stacks: {},
  executions: 0,
  domainOwner: undefined,
};
let aws: HttpServer;
beforeAll(async () => {
  aws = await startHttpServer(async (request, response) => {
    if (request.url?.startsWith('/2016-08-19/account-settings'))
      return void response.end(JSON.stringify({ AccountLimit: { ConcurrentExecutions: account.executions } }));
    const parameters = new URLSearchParams(await text(request));
    const domainName = parameters.get('PhysicalResourceId');
    if (domainName !== null && account.domainOwner !== undefined)
      return void response.end(describeResources(domainName, account.domainOwner));
    const name = parameters.get('StackName') ?? '';
    const stack = account.stacks[name];
    response.writeHead(stack ? 200 : 400, { 'content-type': 'text/xml' });
    response.end(stack ? describeStack(name, stack) : notFound(name));
  });
});
afterAll(() => aws.close());
beforeEach(() => {
  Object.assign(account, { stacks: bootstrapped, executions: 1_000, domainOwner: undefined });
});

const namespace = 'http://cloudformation.amazonaws.com/doc/2010-05-15/';
const describeStack = (name: string, { description = '', status = 'CREATE_COMPLETE', version }: StackState): string =>
  `<DescribeStacksResponse xmlns="${namespace}"><DescribeStacksResult><Stacks><member><StackName>${name}</StackName>
  <Description>${description}</Description><CreationTime>2026-07-27T22:26:28Z</CreationTime><StackStatus>${status}</StackStatus>
  <Outputs><member><OutputKey>BootstrapVersion</OutputKey><OutputValue>${version}</OutputValue></member></Outputs>
  </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
const describeResources = (domainName: string, owner: string): string =>
  `<DescribeStackResourcesResponse xmlns="${namespace}"><DescribeStackResourcesResult><StackResources><member>
  <StackName>${owner}</StackName><PhysicalResourceId>${domainName}</PhysicalResourceId><LogicalResourceId>Domain</LogicalResourceId>
  <ResourceType>AWS::ApiGateway::DomainName</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus>
  </member></StackResources></DescribeStackResourcesResult></DescribeStackResourcesResponse>`;
const notFound = (name: string): string =>
  `<ErrorResponse xmlns="${namespace}"><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`;

const run = async (args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) =>
  await runCommand(
    {
      AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url,
      AWS_ENDPOINT_URL_LAMBDA: aws.url,
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'eu-west-1',
      ...environment,
    },
    ['--json', 'preflight', ...args],
  );

describe('claimcheck preflight', () => {
  it('ends with exit code 0 on an account that is ready, and shows the price of the options', async () => {
    const { code, out } = await run([
      ...['-c', 'stage=production', '-c', 'waf=true', '-c', 'backup=true'],
      ...['-c', 'backupCopyVaultArn=arn:aws:backup:eu-central-1:123456789012:backup-vault:copies'],
      ...['-c', 'masterKeyReplicaRegion=eu-central-1'],
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      region: 'eu-west-1',
      stack: 'Claimcheck-production',
      isUpdate: false,
      findings: [],
      prices: [
        { usd: idleUsd, per: 'month' },
        { usd: webAclUsd, per: 'month' },
        { usd: backupUsdPerGb, per: 'GB and month' },
        { usd: backupCopyUsdPerGb, per: 'GB and month' },
        { usd: 0.4, per: 'month' },
      ],
    });
  });

  it('names the small quota of a new account with its cure, even after the smallest maxConcurrency', async () => {
    account.executions = 10;
    const { code, out } = await run();
    expect([code, JSON.parse(out).findings]).toMatchObject([
      3,
      [{ code: 'concurrency-quota-low', cure: expect.stringContaining('L-B99A9384') }],
    ]);
    const smallest = await run(['-c', 'maxConcurrency=2']);
    expect([smallest.code, JSON.parse(smallest.out).findings]).toMatchObject([
      0,
      [{ code: 'concurrency-quota-small', problem: expect.stringContaining('too few for production') }],
    ]);
  });

  it.each<[string, Record<string, StackState>, string]>([
    ['a missing bootstrap stack', {}, 'bootstrap-missing'],
    ['an old bootstrap stack', { CDKToolkit: { version: minBootstrapVersion - 1 } }, 'bootstrap-missing'],
    ['a stack of another product', { ...bootstrapped, Claimcheck: { description: 'Shop' } }, 'stack-name-taken'],
    [
      'a stack that cannot be updated',
      { ...bootstrapped, Claimcheck: { description: 'Claimcheck: x', status: 'UPDATE_ROLLBACK_FAILED' } },
      'stack-failed',
    ],
  ])('names %s', async (_name, stacks, finding) => {
    account.stacks = stacks;
    const { code, out } = await run();
    expect([code, JSON.parse(out).findings]).toMatchObject([3, [{ code: finding, severity: 'error' }]]);
  });

  it.each<[string | undefined, readonly object[]]>([
    ['Claimcheck-staging', [{ code: 'domain-name-taken', problem: expect.stringContaining('Claimcheck-staging') }]],
    ['Claimcheck', []],
    [undefined, []],
  ])('names another stack with the custom domain name: %s', async (owner, findings) => {
    account.domainOwner = owner;
    const certificate = 'arn:aws:acm:eu-west-1:123456789012:certificate/1';
    const { out } = await run(['-c', 'domainName=pay.example.com', '-c', `certificateArn=${certificate}`]);
    expect(JSON.parse(out).findings).toMatchObject(findings);
    expect(JSON.parse(out).findings).toHaveLength(findings.length);
  });

  it.each([
    [['-c', 'stage=Production!'], {}, /-c stage/],
    [['-c', 'alarmEmial=ops@example.com'], {}, /unknown names: alarmEmial/],
    [[], { AWS_REGION: '', AWS_CONFIG_FILE: '/none', AWS_SHARED_CREDENTIALS_FILE: '/none' }, /region is missing/],
    [
      [],
      {
        AWS_ACCESS_KEY_ID: '',
        AWS_SECRET_ACCESS_KEY: '',
        AWS_EC2_METADATA_DISABLED: 'true',
        AWS_CONFIG_FILE: '/none',
        AWS_SHARED_CREDENTIALS_FILE: '/none',
      },
      /credentials are missing/,
    ],
  ])('rejects %j with %j', async (args, environment, message) => {
    const { code, error } = await run(args, environment);
    expect([code, error]).toEqual([1, expect.stringMatching(message)]);
  });

  it('prints the prices of the documents and the rules of the template', async () => {
    const rows = listTableRows(readDocument('docs/performance.md'));
    expect(rows.find(([, , load]) => load === 'idle')).toContain(String(idleUsd));
    const { joined } = await readStack('every');
    expect(listProperties(joined, 'AWS::WAFv2::WebACL')[0]?.Rules).toHaveLength(webAclUsd - 5);
    expect(readDocument('docs/guides/run-for-production.md')).toContain(
      `${backupUsdPerGb} US dollars a month for each GB of the table, and a copy in another region ${backupCopyUsdPerGb}`,
    );
  });
});
