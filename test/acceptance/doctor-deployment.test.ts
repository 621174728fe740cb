import { CreateQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { computeSourceDigest } from '../../infra/source-digest.ts';
import { getVersion } from '../../lib/api/service.ts';
import { storeWebhook } from '../../lib/apps/app-table.ts';
import { createApp } from '../../lib/apps/manage-apps.ts';
import { createCipher } from '../../lib/foundation/cipher.ts';
import { toKey } from '../../lib/foundation/key.ts';
import * as keys from '../../lib/foundation/keys.ts';
import { dueIndexKeys } from '../../lib/foundation/keys.ts';
import { omitUndefined } from '../../lib/foundation/omit-undefined.ts';
import { hourMs, minuteMs } from '../../lib/foundation/time.ts';
import { findingSeverities } from '../../lib/health/finding.ts';
import { saveRates } from '../../lib/money/exchange-rates/exchange-rate-table.ts';
import { toUtcDay } from '../../lib/money/rates.ts';
import { buildDelivery } from '../../lib/webhooks/delivery.ts';
import { createDeliveryIfAbsent, replaceDelivery } from '../../lib/webhooks/delivery-table.ts';
import { type HttpServer, startHttpServer } from '../../local/http-server.ts';
import { type QueueServer, startQueueServer } from '../../local/queue-server.ts';
import { startSecretsManager } from '../../local/secrets-manager.ts';
import { runCommand, spawnCommand } from '../../testing/command-line.ts';
import { createService } from '../../testing/create-service.ts';
import { listItems, readDocument } from '../../testing/documents.ts';
import { type FakeAccount, type FakeAws, startFakeAws } from '../../testing/fake-aws.ts';
import { createUniqueName } from '../../testing/given.ts';
import { listProperties, readStack } from '../../testing/stack-templates.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { createTestTable } from '../../testing/table.ts';

const tableName = createUniqueName('doctor');
const masterKeyId = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:MasterKey';
const masterKey = 'the-master-key-of-this-test';

const table = startBeforeAll(async () => await createTestTable(tableName));
let secrets: HttpServer;
let queues: QueueServer;
let aws: FakeAws;
let api: HttpServer;
let apiStatus = 200;
const queueUrls: Record<string, string> = {};
/** The smallest `maxConcurrency`, which `concurrency-quota-low` recommends. */
const minMaxConcurrency = 2;
const queueNames = [
  'NotificationsDeadLetter',
  'RefreshesDeadLetter',
  'WebhooksDeadLetter',
  'ForwardsDeadLetter',
  'StreamFailures',
];

beforeAll(async () => {
  secrets = await startSecretsManager({ [masterKeyId]: masterKey });
  queues = await startQueueServer();
  aws = await startFakeAws(process.env.TEST_DYNAMODB_ENDPOINT ?? '');
  api = await startHttpServer((request, response) => {
    response.writeHead(request.url === getVersion.path ? apiStatus : 404).end('{}');
  });
  for (const name of queueNames) {
    const { QueueUrl = '' } = await queues.client.send(new CreateQueueCommand({ QueueName: createUniqueName(name) }));
    queueUrls[name] = QueueUrl;
  }
  await createHealthyData();
});
afterAll(async () => {
  for (const server of [secrets, queues, aws, api]) await server?.close();
});

const app = createUniqueName();
const createTableService = (key = masterKey) =>
  createService(table, { cipher: createCipher(async () => key, Date.now), now: Date.now });
const setWebhook = async (urls: string[], signingSecret?: string): Promise<void> => {
  await storeWebhook(createTableService(), app, {
    settings: { urls, sandboxUrls: [], includesPassword: false },
    createSecret: () => signingSecret,
  });
};

/** Creates an app whose webhooks are off and that is not connected, so only the deployment can have problems. */
async function createHealthyData(): Promise<void> {
  await createApp(createTableService(), app, Date.now() - 24 * hourMs);
  await setWebhook([], 'whsec_test');
  await saveRatesOf(0);
}

const saveRatesOf = async (offsetDays: number): Promise<void> =>
  await saveRates(createService(table), [{ date: toUtcDay(Date.now(), offsetDays), perEuro: { USD: '1.1' } }]);

const webhooksQueueArn = 'arn:aws:sqs:eu-west-1:123456789012:webhooks';
const healthyMapping = { State: 'Enabled', LastProcessingResult: 'OK' };
let healthyAccount: FakeAccount;
beforeAll(() => {
  healthyAccount = { ...aws.account };
});
afterEach(() => {
  Object.assign(aws.account, healthyAccount);
  apiStatus = 200;
});

/** Builds the stack outputs. A change to undefined removes an output. */
const buildOutputs = (changes: object): Readonly<Record<string, string>> =>
  omitUndefined({
    ApiUrl: `${api.url}/`,
    TableName: tableName,
    StreamArn: healthyAccount.streamArn,
    MasterKeyId: masterKeyId,
    WebhooksQueueUrl: queueUrls.WebhooksDeadLetter,
    AlarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms',
    QueueArns: `arn:aws:sqs:eu-west-1:123456789012:notifications,${webhooksQueueArn}`,
    WorkerConcurrency: '150',
    SourceDigest: computeSourceDigest('.'),
    ...Object.fromEntries(queueNames.map((name) => [`${name}QueueUrl`, queueUrls[name]])),
    ...changes,
  });

interface Finding {
  readonly code: keyof typeof findingSeverities;
  readonly severity: string;
  readonly problem: string;
  readonly cure: string;
}

/** Runs the command for the deployment. Omits the notes about the app. */
/** Findings that depend on the day of the run. */
const datedFindings: readonly string[] = ['commission-rates-old'];

async function doctor(outputs: object = {}, environment: object = {}) {
  aws.account.outputs = buildOutputs(outputs);
  // Options of Node need their own process.
  const run = 'NODE_OPTIONS' in environment ? spawnCommand : runCommand;
  const { code, out, error } = await run(
    {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
      AWS_ENDPOINT_URL_SQS: queues.endpoint,
      ...aws.environment,
      ...environment,
    },
    ['--json', '--stack', 'Claimcheck-test', 'doctor', '--timeout', '120'],
  );
  if (out === '') throw new Error(error);
  const report = JSON.parse(out) as { ok: boolean; findings: Finding[]; checks: { name: string; result: string }[] };
  const aboutApp: readonly string[] = ['webhook-url-off', 'stores-missing', ...datedFindings];
  return { code, ...report, findings: report.findings.filter((finding) => !aboutApp.includes(finding.code)) };
}

/** Checks that the command reports this finding and nothing else. A note does not change the exit code. */
function expectOnly({ code, findings }: Awaited<ReturnType<typeof doctor>>, finding: Partial<Finding>): void {
  expect(findings).toEqual([expect.objectContaining(finding)]);
  expect(code).toBe(findings[0]?.severity === 'note' ? 0 : 3);
  for (const { problem, cure } of findings) for (const text of [problem, cure]) expect(text).toMatch(/^\S.*\.$/s);
}

describe('doctor for a deployment', () => {
  it('finds nothing wrong in a healthy deployment, and makes every check', async () => {
    const { code, ok, findings, checks } = await doctor();
    expect({ code, ok, findings }).toEqual({ code: 0, ok: true, findings: [] });
    expect(checks.filter(({ result }) => result === 'skipped' || result === 'failed')).toEqual([]);
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['API', 'alarm subscription', 'concurrency quota', 'table protection', 'version']),
    );
  });

  it.each<[string, Partial<FakeAccount>, Partial<Finding>]>([
    [
      'an alarm topic without a subscription',
      { subscriptions: [] },
      { code: 'alarm-subscription-missing', cure: expect.stringContaining('alarmEmail') as never },
    ],
    [
      'an unconfirmed subscription',
      { subscriptions: [{ arn: 'PendingConfirmation', endpoint: 'ops@example.com' }] },
      { code: 'alarm-subscription-unconfirmed', problem: expect.stringContaining('ops@example.com') as never },
    ],
    [
      'the quota of a new account',
      { concurrentExecutions: 10 },
      { code: 'concurrency-quota-low', cure: expect.stringContaining('L-B99A9384') as never },
    ],
    ['missing point-in-time recovery', { hasRecovery: false }, { code: 'table-recovery-off' }],
    ['missing deletion protection', { isProtected: false }, { code: 'table-deletable' }],
    ['a missing TTL', { ttlAttribute: undefined }, { code: 'table-ttl-off' }],
    ['a stream without old images', { streamView: 'NEW_IMAGE' }, { code: 'table-stream-off', severity: 'error' }],
    [
      'a missing index',
      { indexes: ['byCreated', 'byKey', 'due'] },
      { code: 'table-index-missing', problem: expect.stringContaining('byUser') as never },
    ],
    [
      'a stream that was enabled again',
      { streamArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/table/stream/2026-02-02T00:00:00.000' },
      { code: 'table-stream-replaced', cure: expect.stringContaining('tableRevision') as never },
    ],
    [
      'a disabled mapping of the stream',
      { mappings: [healthyMapping, { ...healthyMapping, State: 'Disabled' }] },
      {
        code: 'worker-not-invoked',
        severity: 'error',
        problem: expect.stringContaining('The worker worker-1 does not read its stream or queue') as never,
        cure: expect.stringContaining('update-event-source-mapping --uuid mapping-1 --enabled') as never,
      },
    ],
    [
      'a disabled mapping of a queue',
      { mappings: [healthyMapping, { ...healthyMapping, State: 'Disabled', EventSourceArn: webhooksQueueArn }] },
      {
        code: 'worker-not-invoked',
        cure: expect.stringContaining('update-event-source-mapping --uuid mapping-1 --enabled') as never,
      },
    ],
    [
      'a mapping of the stream that fails',
      { mappings: [{ ...healthyMapping, LastProcessingResult: 'PROBLEM: Function call failed' }, healthyMapping] },
      {
        code: 'worker-not-invoked',
        problem: expect.stringMatching(/worker-0 .+: PROBLEM: Function call failed\.$/) as never,
        cure: expect.stringContaining('log of the worker') as never,
      },
    ],
    [
      'a check that IAM denies',
      { denied: ['sns:ListSubscriptionsByTopic'] },
      {
        code: 'check-failed',
        problem: expect.stringContaining('alarm subscription') as never,
        cure: expect.stringContaining('OperatorPolicyArn') as never,
      },
    ],
    [
      'a denied check of the quota',
      { denied: ['lambda:GetAccountSettings'] },
      { code: 'check-failed', problem: expect.stringContaining('not authorized') as never },
    ],
  ])('names %s', async (_title, changes, finding) => {
    Object.assign(aws.account, changes);
    expectOnly(await doctor(), finding);
  });

  it('accepts the quota of a new account with few instances of the queue workers', async () => {
    Object.assign(aws.account, { concurrentExecutions: 10 });
    const WorkerConcurrency = String(minMaxConcurrency * queueNames.filter((name) => name.endsWith('Letter')).length);
    expectOnly(await doctor({ WorkerConcurrency }), { code: 'concurrency-quota-small', severity: 'note' });
    expect((await doctor({ WorkerConcurrency: '6' })).findings).toEqual([]);
  });

  it('names a different version as a note', async () => {
    expectOnly(await doctor({ SourceDigest: '0123456789ab' }), { code: 'version-different', severity: 'note' });
  });

  it('names an API that does not respond', async () => {
    apiStatus = 500;
    expectOnly(await doctor(), { code: 'api-unreachable', problem: expect.stringContaining('HTTP 500') as never });
    expectOnly(await doctor({ ApiUrl: 'http://127.0.0.1:1' }), { code: 'api-unreachable' });
  });

  it.each([
    [12, '12 minutes ahead of'],
    [-3 * 60, '3 hours behind'],
  ])('names a clock of this machine that differs by %i minutes', async (minutes, text) => {
    const shift = `const { now } = Date; Date.now = () => now() + ${minutes * minuteMs};`;
    const report = await doctor({}, { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` });
    expectOnly(report, { code: 'clock-wrong', problem: expect.stringContaining(text) as never });
  });

  it('names due items that are not enqueued', async () => {
    const key = keys.purchaseKey('app', 'store_a:1');
    await table.batchPut([{ ...key, ...dueIndexKeys(key, Date.now() - hourMs) }]);
    const report = await doctor();
    await table.transact([{ Delete: { TableName: table.name, Key: { ...key } } }]);
    expectOnly(report, {
      code: 'due-items-late',
      problem: expect.stringMatching(/the oldest for 6\d minutes/) as never,
    });
  });

  it('names old exchange rates', async () => {
    const [stored] = await table.query({ partition: keys.ratesKey.partition() });
    await table.transact([{ Delete: { TableName: table.name, Key: { ...toKey(stored ?? {}) } } }]);
    expectOnly(await doctor(), { code: 'exchange-rates-old', problem: expect.stringContaining('never') as never });
    await saveRatesOf(-9);
    const report = await doctor();
    await saveRatesOf(0);
    expectOnly(report, {
      code: 'exchange-rates-old',
      problem: expect.stringContaining(toUtcDay(Date.now(), -9)) as never,
    });
  });

  it('names a webhook URL that a deployment does not allow', async () => {
    await setWebhook(['http://127.0.0.1:8080/hook']);
    const report = await doctor();
    await setWebhook([]);
    expectOnly(report, { code: 'webhook-url-not-allowed', problem: expect.stringContaining('https') as never });
  });

  it('names webhooks that are retried', async () => {
    const url = 'https://app.example.com/hook';
    await setWebhook([url]);
    const service = createService(table);
    const createdAt = Date.now();
    const notification = { id: createUniqueName('notification'), reason: 'RENEWED', date: createdAt } as const;
    const delivery = buildDelivery({ appName: app, type: 'purchases.updated', url, notification, createdAt });
    await createDeliveryIfAbsent(service, delivery);
    const failing = { ...delivery, failedAttempts: 3, lastHttpStatus: 500, failureReason: 'HTTP 500' };
    await replaceDelivery(service, delivery, failing, createdAt);
    const report = await doctor();
    await setWebhook([]);
    expectOnly(report, { code: 'webhook-deliveries-failing', problem: expect.stringContaining('HTTP 500') as never });
  });

  it('names webhook secrets that cannot be decrypted', async () => {
    await storeWebhook(createTableService('a-lost-master-key'), app, {
      settings: { urls: [], sandboxUrls: [], includesPassword: false },
      createSecret: () => 'whsec_lost',
    });
    const report = await doctor();
    await setWebhook([], 'whsec_test');
    expectOnly(report, { code: 'webhook-secrets-unreadable', cure: expect.stringContaining('rotate-key') as never });
  });

  it('skips the checks of a stack without the outputs, with the reason', async () => {
    const { code, checks } = await doctor({ AlarmTopicArn: undefined, WorkerConcurrency: undefined });
    expect(code).toBe(0);
    const skipped = checks.filter(({ result }) => result === 'skipped');
    expect(skipped).toMatchObject([
      { name: 'alarm subscription', reason: expect.stringContaining('output') },
      { name: 'concurrency quota' },
    ]);
  });

  it('names dead letters', async () => {
    await queues.client.send(new SendMessageCommand({ QueueUrl: queueUrls.WebhooksDeadLetter, MessageBody: '{}' }));
    expectOnly(await doctor(), { code: 'dead-letters', problem: expect.stringContaining('of webhooks') as never });
  });

  it('makes exactly the calls that the operator policy allows for a deployment', async () => {
    const [policy] = listProperties((await readStack('none')).root, 'AWS::IAM::ManagedPolicy');
    const statements: { readonly Action: string | string[] }[] = policy?.PolicyDocument.Statement;
    const allowed = statements
      .flatMap(({ Action }) => Action)
      .filter((action) => /^(?:cloudformation|sns|lambda):|:Describe/.test(action));
    expect([...aws.actions].sort()).toEqual(allowed.sort());
  });
});

describe('docs/operating/findings.md', () => {
  it('explains every finding with its severity', () => {
    const documented = listItems(readDocument('docs/operating/findings.md')).flatMap((item) => {
      const [, code, severity] = /^`([a-z-]+)` \((\w+)\): .+ Impact: .+ Action: .+\.$/.exec(item) ?? [];
      return code ? [[code, severity]] : [];
    });
    expect(documented).toEqual(Object.entries(findingSeverities));
  });
});
