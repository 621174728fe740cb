import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { getCommandPath, listLeafCommands } from '../../cli/command-tree.ts';
import { createProgram, offlineCommands } from '../../cli/program.ts';
import { createApp } from '../../lib/apps/manage-apps.ts';
import { issueAccessToken } from '../../lib/customers/access-token-table.ts';
import { createCipher } from '../../lib/foundation/cipher.ts';
import { toKey } from '../../lib/foundation/key.ts';
import * as keys from '../../lib/foundation/keys.ts';
import { createMessageQueue } from '../../lib/foundation/message-queue.ts';
import { createTableClient, type Item, type Table } from '../../lib/foundation/table.ts';
import { parseOwnedPurchaseId } from '../../lib/purchases/owned-purchase-links.ts';
import { counterPartition } from '../../lib/statistics/counter-key.ts';
import { buildDelivery } from '../../lib/webhooks/delivery.ts';
import { createDeliveryIfAbsent, replaceDelivery } from '../../lib/webhooks/delivery-table.ts';
import type { IamAccess } from '../../local/iam-policies.ts';
import { createLocalNames } from '../../local/local-names.ts';
import { openStateFile } from '../../local/saved-state.ts';
import type { LocalService } from '../../local/start-local.ts';
import { listResources } from '../../local/template.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, waitUntilQueuesEmpty } from '../../testing/call-local.ts';
import { runCommand, runSuccessfully, spawnSuccessfully } from '../../testing/command-line.ts';
import { createService } from '../../testing/create-service.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { readStack } from '../../testing/stack-templates.ts';
import { waitFor } from '../../testing/wait-for.ts';

const { joined: template } = await readStack('none');
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
const currentCipher = createCipher(async () => currentKey, Date.now);
const earlierCipher = createCipher(async () => earlierKey, Date.now);

const accesses: IamAccess[] = [];
const silentTerminal = { writeOut: () => {}, writeErr: () => {}, getOutHelpWidth: () => 80, getErrHelpWidth: () => 80 };

/** The commands that use the service. */
const commandPaths = listLeafCommands(createProgram(silentTerminal))
  .map(getCommandPath)
  .filter((path) => !offlineCommands.includes(path));
const commandsRun = new Set<string>();
let folder: string;
let service: LocalService;
let table: Table;
beforeAll(async () => {
  // Loads the commands before a connection is open, which the service would close during that time.
  await runCommand({}, ['--version']);
  folder = await mkdtemp(join(tmpdir(), 'claimcheck-operator-'));
  const masterKey = names.ref(findId('AWS::SecretsManager::Secret', /./));
  openStateFile(folder).save({ run: runName, secrets: { [masterKey]: `${currentKey} ${earlierKey}` } });
  service = await startLocalService({
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

/** Runs a command that must succeed, and returns its output. */
async function cli(args: readonly string[], input?: string): Promise<string> {
  const path = commandPaths.find((command) => `${args.join(' ')} `.startsWith(`${command} `));
  if (path !== undefined) commandsRun.add(path);
  // An export goes to the standard output of the process.
  const run = path === 'customer export' ? spawnSuccessfully : runSuccessfully;
  return await run(service.environment, args, input);
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
  await table.transact([{ Delete: { TableName: table.name, Key: { ...toKey(item ?? {}) } } }]);

const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', autoRenew: true } as const;

/** Buys a subscription two days ago, and changes the stored data so that each command has something to correct. */
async function givenDataToCorrect(): Promise<{ from: string; to: string }> {
  const { appName, publicKey } = service;
  const from = new Date((await control('/clock')).now).toISOString().slice(0, 10);
  const { validate } = await control('/purchases', { ...order, applicationUsername: 'ann' });
  const headers = buildBasicAuth(appName, publicKey);
  await fetch(`${service.baseUrl}/v1/validate`, { method: 'POST', headers, body: JSON.stringify(validate) });
  const [counter] = await readItems(keys.dayCounterKey.partition(appName), keys.dayCounterKey.sortKey());
  await waitUntilQueuesEmpty(service);
  const product = { platform: order.platform, productId: `${order.platform}:${order.productId}` } as const;
  const [productCounter] = await readItems(counterPartition(appName, { product }), keys.dayCounterKey.sortKey());
  const figures = counterPartition(appName, { kind: 'platforms' });
  const [figuresCounter] = await readItems(figures, keys.dayCounterKey.sortKey());
  // A repeated batch of the stream would count again what is deleted below.
  const recount = async () =>
    await runCommand(service.environment, ['stats', 'recount', appName, '--from', from, '--to', from]);
  await waitFor('equal counters', recount, ({ out }) => out.includes('The counters match the table.'));
  await control('/clock', { advance: 'P2D' });
  await waitUntilQueuesEmpty(service);
  const customer = keys.customerKey.partition(appName, 'ann');
  const [link] = await readItems(customer, keys.ownedPurchaseKey.sortKey());
  const purchaseId = parseOwnedPurchaseId(String(link?.sk));
  await deleteItem(counter);
  await deleteItem(productCounter);
  await deleteItem(figuresCounter);
  await deleteItem(link);
  await table.batchPut([{ ...link, pk: customer, sk: keys.ownedPurchaseKey.sortKey(1, purchaseId) }]);
  const context = `${appName}/refresh/${purchaseId}`;
  const stored = await table.get(keys.purchaseKey(appName, purchaseId));
  const refreshToken = await earlierCipher.encrypt(
    await currentCipher.decrypt(String(stored?.refreshToken), context),
    context,
  );
  await table.update({
    Key: { ...keys.purchaseKey(appName, purchaseId) },
    UpdateExpression: 'SET refreshToken = :token',
    ExpressionAttributeValues: { ':token': refreshToken },
  });
  await createApp(createService(table, { cipher: earlierCipher }), 'earlier', Date.now());
  return { from, to: from };
}

/** Creates a dead delivery of the app. */
async function givenDeadDelivery(appName: string): Promise<void> {
  const tableService = createService(table);
  const createdAt = Date.parse((await control('/clock')).now);
  const notification = { id: createUniqueName('notification'), reason: 'TEST', date: createdAt } as const;
  const [url = ''] = service.webhooks.urls;
  const delivery = buildDelivery({ appName, type: 'test', url, notification, createdAt });
  await createDeliveryIfAbsent(tableService, delivery);
  await replaceDelivery(tableService, delivery, { ...delivery, state: 'dead', failedAttempts: 9 }, createdAt);
}

/** Reports a record of a purchase that was deleted. */
async function givenStreamFailure(appName: string): Promise<void> {
  const { STREAM_FAILURES_QUEUE_URL = '' } = service.environment;
  const key = keys.purchaseKey(appName, 'store_a:deleted');
  const streamFailures = createMessageQueue(() => STREAM_FAILURES_QUEUE_URL, {});
  await streamFailures.send([
    { worker: 'fan-out-webhooks', appName, key, reason: 'entitledUsers: expected an array.', writtenAt: Date.now() },
  ]);
}

/** Gives a customer an access token, and a purchase that has created a vault reference. */
async function givenCheckoutAndVault(appName: string, username: string): Promise<void> {
  await issueAccessToken(createService(table), appName, { platform: 'processor_a', username }, Date.now());
  const { validate } = await control('/purchases', {
    platform: 'processor_b',
    productId: 'monthly',
    type: 'paid subscription',
    applicationUsername: username,
  });
  const headers = buildBasicAuth(appName, service.publicKey);
  await fetch(`${service.baseUrl}/v1/validate`, { method: 'POST', headers, body: JSON.stringify(validate) });
}

const listAccesses = (matches: (access: readonly [string, string]) => boolean): string[] =>
  statements
    .flatMap(({ Action, Resource }) => Action.flatMap((action) => Resource.map((arn) => [action, arn] as const)))
    .filter(matches)
    .map((access) => access.join(' '))
    .sort();
/** Accesses of the commands to the queues of the local service. */
const usedQueueAccesses = [
  `sqs:SendMessage ${getQueueArn(/^Queueswebhooks(?!dead)/)}`,
  ...['ReceiveMessage', 'ChangeMessageVisibility', 'DeleteMessage'].map(
    (action) => `sqs:${action} ${getQueueArn(/^QueuesStreamFailures/)}`,
  ),
];

/** The access is for a redrive, for the option --stack, or for `doctor` of a deployment. */
const isNotForLocalCommands = (access: readonly [string, string]): boolean =>
  /^(?:cloudformation|sns|lambda):|^dynamodb:Describe/.test(access[0]) ||
  (/^sqs:(?!GetQueueAttributes)/.test(access[0]) && !usedQueueAccesses.includes(access.join(' ')));

/** Sends the statement about the recovered refund request. */
async function answerRefundRequest(appName: string): Promise<void> {
  const [{ id }] = JSON.parse(await cli(['refunds', 'list', appName, '--state', 'open', '--json']));
  expect(await cli(['refunds', 'show', appName, id])).toContain(`${id}: open, statements until `);
  await expect(cli(['refunds', 'answer', appName, id, 'decline'])).rejects.toThrow('the consent of the customer');
  const delivered = ['--delivery-status', 'DELIVERED', '--used', '80'];
  expect(await cli(['refunds', 'answer', appName, id, 'decline', '--consented', ...delivered])).toMatch(
    /Statement: decline, sent /,
  );
  const { answer } = JSON.parse(await cli(['refunds', 'show', appName, id, '--json']));
  expect(answer).toMatchObject({ preference: 'decline', deliveryStatus: 'DELIVERED', consumptionPercentage: 80_000 });
  expect(await cli(['refunds', 'list', appName])).toContain(`${id}  answered `);
}

/** Runs every command with data that it has to write. */
async function runEveryCommand(): Promise<void> {
  const { appName } = service;
  const { from, to } = await givenDataToCorrect();
  await givenDeadDelivery(appName);
  await cli(['app', 'create', 'new']);
  expect(await cli(['app', 'list'])).toContain(appName);
  await cli(['app', 'rotate-key', 'new', 'public']);
  const { id } = JSON.parse(await cli(['key', 'create', 'new', '--level', 'viewer', '--name', 'support', '--json']));
  expect(await cli(['key', 'list', 'new'])).toContain(id);
  await cli(['key', 'revoke', 'new', id]);
  await cli(['app', 'set-catalogue', 'new', '-'], '{"gold":{"type":"consumable"}}');
  await cli(['app', 'show-catalogue', 'new']);
  await cli(['app', 'set-store', 'new', 'store_a', '-'], JSON.stringify(await control('/settings/store_a')));
  await cli(['app', 'set-strategy', 'new', 'first']);
  await cli(['app', 'set-sandbox-entitlements', 'new', 'listed', 'ann']);
  await cli(['app', 'set-token-minutes', 'new', '30']);
  await cli(['app', 'set-credits', 'new', '--floor', 'zero']);
  await cli(['app', 'rotate-token-key', 'new']);
  const grant = JSON.parse(await cli(['grant', 'create', 'new', 'ann', 'pro', '--reason', 'tester', '--json']));
  expect(await cli(['grant', 'list', 'new', 'ann'])).toContain(grant.grantId);
  expect(await cli(['why', 'new', 'ann', 'pro'])).toContain('ann has pro.');
  await cli(['grant', 'extend', 'new', 'ann', grant.grantId, '--until', '2027-01-31']);
  await cli(['grant', 'revoke', 'new', 'ann', grant.grantId]);
  await cli(['credits', 'give', 'new', 'eve', 'coins', '9', '--reason', 'outage', '--until', '2099-01-31']);
  await cli(['credits', 'take', 'new', 'eve', 'coins', '2', '--reason', 'mistake', '--idempotency-key', 'a']);
  expect(await cli(['credits', 'show', 'new', 'eve'])).toContain('coins: 7 (9 given');
  const merge = JSON.parse(await cli(['customer', 'merge', 'new', 'ann', 'bob', '--json']));
  expect(merge).toMatchObject({ grants: 1, isComplete: true });
  expect(await cli(['customer', 'merges', 'new', 'bob'])).toContain(merge.mergeId);
  expect(await cli(['customer', 'unmerge', 'new', 'bob', merge.mergeId])).toContain('1 grant moved back');
  expect(await cli(['why', 'new', 'ann'])).toContain('ann does not have pro.');
  await cli(['app', 'set-vocabulary', 'new', 'brand']);
  await cli(['app', 'set-read-events', 'new', 'off']);
  await cli(['app', 'set-unverified-hours', 'new', '48']);
  await cli(['app', 'set-request-limit', 'new', '500']);
  await cli(['app', 'set-commission-rates', 'new', '-'], '{"rates":[]}');
  await cli(['app', 'set-exchange-rates', 'new', '-'], '{"rates":[]}');
  expect(await cli(['app', 'show-commission-rates', 'new'])).toContain('default');
  await cli(['app', 'show-exchange-rates', 'new']);
  await cli(['app', 'set-support-actions', 'new', 'extend,cancel']);
  await cli(['app', 'set-refund-policy', 'new', 'answer']);
  await cli(['events', 'tail', appName]);
  expect(await cli(['app', 'show', 'new'])).toContain('brand');
  // Purchases lack deliveries for a URL that was set after them.
  const [url] = service.webhooks.urls;
  await cli(['app', 'set-webhook', appName, '--url', `${url},${url}?later`]);
  const products = '{"announced":{"type":"consumable","entitlements":["announced"]}}';
  expect(await cli(['app', 'set-catalogue', appName, '-', '--announce'], products)).toContain('webhooks enqueued');
  await cli(['app', 'set-forwards', 'new', `${url}/forwards`]);
  await cli(['app', 'set-alerts', 'new', `${url}/alerts`]);
  await cli(['app', 'test-webhook', appName]);
  expect(await cli(['webhooks', 'list', appName])).toContain('  dead  ');
  expect(await cli(['webhooks', 'replay', appName, '--dead'])).toMatch(/^[1-9]\d* deliver(?:y|ies) enqueued/);
  await givenStreamFailure(appName);
  expect(await cli(['webhooks', 'stream-failures', 'list'])).toContain('fan-out-webhooks');
  expect(await cli(['webhooks', 'stream-failures', 'replay'])).toContain('1 stream record replayed.');
  expect(await cli(['webhooks', 'tail', appName])).toMatch(/\S/);
  expect(await cli(['webhooks', 'backfill', appName, '--from', from])).toMatch(
    / [1-9]\d* missing (?:delivery|deliveries) created/,
  );
  expect(await cli(['secrets', 'reencrypt'])).toMatch(/\ndemo +1\nearlier +1\n2 values/);
  await table.batchDelete([keys.tableVersionKey()]);
  expect(await cli(['table', 'migrate'])).toMatch(/has version \d+, before 2: \d+ customers? checked, 0 converted/);
  expect(await cli(['table', 'show'])).toMatch(/The table has version (\d+)\.\nThis release writes version \1\./);
  const recount = ['stats', 'recount', appName, '--from', from, '--to', to, '--correct'];
  expect(await cli(recount)).toMatch(/[1-9]\d* counters? corrected/);
  expect(await cli(['customer', 'rebuild-links', appName])).toMatch(/ [1-9]\d* links? added, [1-9]\d* stale links?/);
  await cli(['customer', 'rebuild-summaries', appName]);
  const { rows } = JSON.parse(await cli(['purchases', 'list', appName, '--user', 'ann', '--json']));
  await cli(['purchases', 'show', appName, rows[0].purchaseId]);
  expect(await cli(['purchases', 'actions', appName, rows[0].purchaseId])).toContain('finish');
  const finish = ['finish', '--reason', 'tester', '--confirm', rows[0].purchaseId];
  expect(await cli(['purchases', 'act', appName, rows[0].purchaseId, ...finish])).toContain('finished');
  expect(await cli(['customer', 'show', appName, 'ann'])).toContain('ann: active subscriber');
  expect(await cli(['customer', 'list', appName])).toMatch(/\S/);
  expect(await cli(['transactions', 'list', appName])).toMatch(/\S/);
  expect(await cli(['customer', 'list', appName, '--entitlement', 'premium'])).toMatch(/\S/);
  expect(await cli(['transactions', 'list', appName, '--refunded'])).toMatch(/\S/);
  expect(await cli(['stats', 'show', appName])).toContain('REVENUE USD');
  expect(await cli(['customer', 'export', appName, 'ann'])).toContain('"applicationUsername":"ann"');
  await cli(['app', 'set-webhook', 'new', '--off']);
  expect(await cli(['status'])).toContain('Next: claimcheck');
  await setNotificationUrl(`${service.baseUrl}/v3/webhook/store_a/new`);
  expect(await cli(['doctor', 'new', '--timeout', '120'])).toContain('checks made');
  await setNotificationUrl(`${service.baseUrl}/unknown`);
  const { id: unreported } = await control('/purchases', { ...order, applicationUsername: 'bob' });
  await control(`/purchases/${unreported}/request-refund`, {});
  const recover = ['notifications', 'recover', appName, '--from', from];
  const isRecovered = (output: string) => /^store_a {2}[1-9]\d* notifications? processed, 0 failed/.test(output);
  await waitFor('a recovered notification', async () => await cli(recover), isRecovered);
  await answerRefundRequest(appName);
  const importable = await control('/purchases', { ...order, applicationUsername: 'cy' });
  const file = join(folder, 'purchases.csv');
  await writeFile(file, `platform,originalTransactionId,user\nstore_a,${importable.id},cy\n`);
  expect(await cli(['import', appName, file])).toMatch(/^1 row: 1 imported/);
  const users = ['compare', appName, file, '--users', '--with', service.baseUrl, '--key', service.secretKey];
  expect(await cli(users)).toMatch(/^1 row: 1 equal/);
  const proof = ['prove', appName, 'store_a', '--steps', 'buy', '--report', join(folder, 'proof.md'), '--wait', '120'];
  await setNotificationUrl(`${service.baseUrl}/v3/webhook/store_a/${appName}`);
  expect(await cli(proof)).toContain('1 of 1 steps seen');
  expect(await cli(['export', 'schedule', appName])).toContain('has no schedule');
  await cli(['export', 'schedule', appName, '--off']);
  expect(await cli(['export', 'now', appName, '--to', join(folder, 'export')])).toMatch(
    /purchases\.jsonl\.gz: [1-9]\d* rows?/,
  );
  expect(await cli(['purchases', 'refresh', appName])).toMatch(/^[1-9]\d* purchases? refreshed/);
  await givenCheckoutAndVault(appName, 'ann');
  const credits = { purchaseId: rows[0].purchaseId, isSandbox: false, owner: 'ann', payments: {}, version: 1 };
  await table.batchPut([{ ...keys.purchaseCreditsKey(appName, rows[0].purchaseId), ...credits }]);
  expect(await cli(['customer', 'erase', appName, 'ann', '--confirm', 'ann', '--wait', '1'])).toMatch(
    /1 vault reference deleted\n1 access token deleted/,
  );
  await cli(['app', 'delete', 'new', '--confirm', 'new']);
}

describe('OperatorPolicy', () => {
  beforeAll(async () => await runEveryCommand(), 900_000);

  it('allows every command', () => {
    expect([...commandsRun].sort()).toEqual([...commandPaths].sort());
  });

  it('allows only AWS calls that the commands make, except for redrives and stack outputs', () => {
    const used = new Set(accesses.map(({ action, resource }) => `${action} ${resource}`));
    expect(listAccesses((access) => !isNotForLocalCommands(access))).toEqual([...used].sort());
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
