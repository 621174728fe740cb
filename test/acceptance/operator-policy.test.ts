import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Template } from 'aws-cdk-lib/assertions';
import * as v from 'valibot';
import { createAppCommands } from '../../cli/app-commands.ts';
import { createCustomerCommands } from '../../cli/customer-commands.ts';
import { createDeliveryCommands } from '../../cli/delivery-commands.ts';
import { createNotificationCommands, createPurchaseCommands } from '../../cli/purchase-commands.ts';
import { createSecretCommands } from '../../cli/secret-commands.ts';
import { createStatsCommands } from '../../cli/stats-commands.ts';
import { createApp } from '../../lib/apps/manage-apps.ts';
import { createAppRepository } from '../../lib/db/app-repository.ts';
import { createDeliveryRepository } from '../../lib/db/delivery-repository.ts';
import * as keys from '../../lib/db/keys.ts';
import { createTableClient, type Item, type Table } from '../../lib/db/table.ts';
import { createCipher } from '../../lib/shared/cipher.ts';
import { buildDelivery } from '../../lib/webhooks/delivery.ts';
import type { IamAccess } from '../../local/iam-policies.ts';
import { createLocalNames } from '../../local/local-names.ts';
import { saveState } from '../../local/saved-state.ts';
import { type LocalService, startLocal } from '../../local/start-local.ts';
import { listResources } from '../../local/template.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { createUniqueName } from '../../testing/given.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { createStack } from '../infra/stack-fixture.ts';

const template = Template.fromStack(createStack({}).stack).toJSON() as Parameters<typeof listResources>[0];
const runName = createUniqueName('operator');
const names = createLocalNames(template, { run: runName, getQueueUrl: (name) => name });
const findId = (type: string, pattern: RegExp): string =>
  Object.entries(template.Resources).find(([id, resource]) => resource.Type === type && pattern.test(id))?.[0] ?? '';
const getQueueArn = (pattern: RegExp): string => names.attribute(findId('AWS::SQS::Queue', pattern), 'Arn');

const Texts = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((texts) => [texts].flat()),
);
const Statement = v.object({
  Action: Texts,
  Resource: Texts,
  Condition: v.optional(v.object({ 'ForAllValues:StringLike': v.object({ 'dynamodb:LeadingKeys': Texts }) })),
});
const PolicyProperties = v.object({ PolicyDocument: v.object({ Statement: v.array(Statement) }) });
const [policy] = listResources(template, 'AWS::IAM::ManagedPolicy', { properties: PolicyProperties, names }).values();
const statements = policy?.PolicyDocument.Statement ?? [];

const [earlierKey, currentKey] = ['the-earlier-master-key-of-this-test', 'the-current-master-key-of-this-test'];
const earlierCipher = createCipher(async () => earlierKey, Date.now);

const accesses: IamAccess[] = [];
const commandsRun = new Set<string>();
let folder: string;
let service: LocalService;
let table: Table;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'claimcheck-operator-'));
  const masterKey = names.ref(findId('AWS::SecretsManager::Secret', /./));
  await saveState(folder, { run: runName, secrets: { [masterKey]: `${currentKey} ${earlierKey}` } });
  service = await startLocal({
    folder,
    onAccess: (caller, access) => {
      if (caller === service?.environment.AWS_ACCESS_KEY_ID) accesses.push(access);
    },
  });
  table = createTableClient(service.environment.TABLE_NAME ?? '');
});
afterAll(async () => {
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

const execute = promisify(execFile);

/** Runs a command that must succeed, and returns its output. */
async function cli(args: readonly string[], input = ''): Promise<string> {
  commandsRun.add(args.slice(0, 2).join(' '));
  const running = execute(process.execPath, ['--import', 'tsx', 'cli/main.ts', ...args], {
    cwd: new URL('../..', import.meta.url),
    env: { ...process.env, ...service.environment },
  });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

const control = async (path: string, body?: object) => await callLocalControl(service, path, body);

async function setNotificationUrl(url: string): Promise<void> {
  const init = { method: 'PUT', body: JSON.stringify({ url }) };
  expect((await fetch(`${service.emulatorUrl}/control/notifications/store_a`, init)).status).toBeLessThan(300);
}

/** Reads the items of a partition whose sort key begins with a prefix. */
const readItems = async (partition: string, prefix: string): Promise<Item[]> =>
  await waitFor(
    `${prefix} of ${partition}`,
    async () => await table.query({ partition, prefix }),
    ({ length }) => length > 0,
  );
const deleteItem = async (item: Item | undefined) =>
  await table.transact([{ Delete: { TableName: table.name, Key: { ...keys.toKey(item ?? {}) } } }]);

const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', autoRenew: true };

/** Buys a subscription two days ago, and changes the stored data so that each command has something to correct. */
async function givenDataToCorrect(): Promise<{ from: string; to: string }> {
  const { appName, publicKey } = service;
  const from = new Date((await control('/clock')).now).toISOString().slice(0, 10);
  const { validate } = await control('/purchases', { ...order, applicationUsername: 'ann' });
  const headers = buildBasicAuth(appName, publicKey);
  await fetch(`${service.baseUrl}/v1/validate`, { method: 'POST', headers, body: JSON.stringify(validate) });
  const [counter] = await readItems(keys.countersPartition(appName), keys.dayPrefix);
  await waitUntilQueuesEmpty(service);
  await control('/clock', { advance: 'P2D' });
  await waitUntilQueuesEmpty(service);
  const customer = keys.customerPartition(appName, 'ann');
  const [link] = await readItems(customer, keys.ownedPurchasePrefix);
  const purchaseId = keys.parseOwnedPurchaseId(String(link?.sk));
  await deleteItem(counter);
  await deleteItem(link);
  await table.batchPut([{ ...link, ...{ pk: customer, sk: keys.ownedPurchaseSortKey(purchaseId, 1) } }]);
  const refreshToken = await earlierCipher.encrypt('{}', `${appName}/refresh/${purchaseId}`);
  await table.update({
    Key: { ...keys.purchaseKey(appName, purchaseId) },
    UpdateExpression: 'SET refreshToken = :token',
    ExpressionAttributeValues: { ':token': refreshToken },
  });
  await createApp(createAppRepository(table, earlierCipher), 'earlier', Date.now());
  return { from, to: from };
}

/** Creates a dead delivery of the app. */
async function givenDeadDelivery(appName: string): Promise<void> {
  const deliveries = createDeliveryRepository(table);
  const createdAt = Date.parse((await control('/clock')).now);
  const notification = { id: createUniqueName('notification'), reason: 'TEST', date: createdAt } as const;
  const [url = ''] = service.webhooks.urls;
  const delivery = buildDelivery({ appName, type: 'test', url, notification, createdAt });
  await deliveries.createIfAbsent(delivery);
  await deliveries.replaceIfUnchanged(delivery, { ...delivery, state: 'dead', failedAttempts: 9 }, createdAt);
}

const listAccesses = (matches: (access: readonly [string, string]) => boolean): string[] =>
  statements
    .flatMap(({ Action, Resource }) => Action.flatMap((action) => Resource.map((arn) => [action, arn] as const)))
    .filter(matches)
    .map((access) => access.join(' '))
    .sort();
/** Whether only a redrive, and no command, needs the access. */
const isForRedrive = ([action, resource]: readonly [string, string]): boolean =>
  action.startsWith('sqs:') && resource !== getQueueArn(/^Queueswebhooks(?!dead)/);

/** Runs every command with data that it has to write. */
async function runEveryCommand(): Promise<void> {
  const { appName } = service;
  const { from, to } = await givenDataToCorrect();
  await givenDeadDelivery(appName);
  await cli(['app', 'create', 'new']);
  expect(await cli(['app', 'list'])).toContain(appName);
  await cli(['app', 'rotate-key', 'new', 'public']);
  await cli(['app', 'set-catalogue', 'new', '-'], '{"gold":{"type":"consumable"}}');
  await cli(['app', 'show-catalogue', 'new']);
  await cli(['app', 'set-store', 'new', 'store_a', '-'], JSON.stringify(await control('/settings/store_a')));
  await cli(['app', 'set-strategy', 'new', 'first']);
  await cli(['app', 'set-vocabulary', 'new', 'brand']);
  // Purchases have no deliveries for a URL that was set after them.
  const [url] = service.webhooks.urls;
  await cli(['app', 'set-webhook', appName, '--url', `${url},${url}?later`]);
  await cli(['app', 'test-webhook', appName]);
  expect(await cli(['deliveries', 'list', appName])).toContain('  dead  ');
  expect(await cli(['deliveries', 'replay', appName, '--dead'])).toMatch(/^[1-9]\d* deliveries enqueued/);
  expect(await cli(['deliveries', 'backfill', appName, '--from', from])).toMatch(
    / [1-9]\d* missing deliveries created/,
  );
  expect(await cli(['secrets', 'reencrypt'])).toMatch(/^demo {2}1\nearlier {2}1\n2 values/);
  const recount = ['stats', 'recount', appName, '--from', from, '--to', to, '--correct'];
  expect(await cli(recount)).toMatch(/[1-9]\d* counters corrected/);
  expect(await cli(['customers', 'rebuild-links', appName])).toMatch(/ [1-9]\d* links added, [1-9]\d* stale links/);
  await cli(['customers', 'rebuild-summaries', appName]);
  await setNotificationUrl(`${service.baseUrl}/unknown`);
  await control('/purchases', { ...order, applicationUsername: 'bob' });
  const recover = ['notifications', 'recover', appName, '--from', from];
  const isRecovered = (output: string) => /^store_a {2}[1-9]\d* notifications processed, 0 failed/.test(output);
  await waitFor('a recovered notification', async () => await cli(recover), isRecovered);
  expect(await cli(['purchases', 'refresh', appName])).toMatch(/^[1-9]\d* purchases refreshed/);
}

describe('OperatorPolicy', () => {
  // Each command is a process of its own.
  beforeAll(async () => await runEveryCommand(), 900_000);

  it('allows every command', () => {
    const groups = [
      createAppCommands(),
      createDeliveryCommands(),
      createSecretCommands(),
      createStatsCommands(),
      createCustomerCommands(),
      createPurchaseCommands(),
      createNotificationCommands(),
    ];
    const existing = groups.flatMap((group) => group.commands.map((command) => `${group.name()} ${command.name()}`));
    expect([...commandsRun].sort()).toEqual(existing.sort());
  });

  it('allows only AWS calls that the commands make, except for redrives', () => {
    const used = new Set(accesses.map(({ action, resource }) => `${action} ${resource}`));
    expect(listAccesses((access) => !isForRedrive(access))).toEqual([...used].sort());
  });

  it('restricts writes to the partitions that the commands write', () => {
    const patterns = statements.flatMap(
      ({ Condition }) => Condition?.['ForAllValues:StringLike']['dynamodb:LeadingKeys'] ?? [],
    );
    const written = accesses.flatMap(({ leadingKeys = [] }) => leadingKeys);
    const isUsed = (pattern: string): boolean => {
      const [prefix = '', ...others] = pattern.split('*');
      return written.some((key) => key.startsWith(prefix) && others.every((part) => key.includes(part)));
    };
    expect(patterns.length).toBeGreaterThan(0);
    expect(patterns.filter((pattern) => !isUsed(pattern))).toEqual([]);
  });
});
