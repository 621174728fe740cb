import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contracts } from '../../lib/contracts/index.ts';
import { awsClientOptions } from '../../lib/foundation/connections.ts';
import { type Container, getService, setContainerLookup } from '../../lib/foundation/container.ts';
import { toKey } from '../../lib/foundation/key.ts';
import type { Service } from '../../lib/foundation/service.ts';
import type { Item } from '../../lib/foundation/table.ts';
import { tableVersion } from '../../lib/foundation/table-version.ts';
import { matchPath } from '../../lib/http/match-path.ts';
import { findTableVersion } from '../../lib/migration/find-table-version.ts';
import { migrateTable } from '../../lib/migration/migrate-table.ts';
import { startSecretsManager } from '../../local/secrets-manager.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { findItemTypes, namePlaces } from '../../testing/item-types.ts';
import { createTestTable } from '../../testing/table.ts';
import type { RecordedAnswers, StoredBinary } from '../../testing/write-stored-data.ts';

const folder = 'test/fixtures/stored-data';

/**
 * The commits at which `testing/write-stored-data.ts` has written items and answers. Those of d6398d69 have version 2
 * of the table. They are without events and deliveries, the answers that show them, and those about claims and grants.
 */
const recordings = ['2c5871a5', 'd6398d69'].map((commit) => ({
  commit,
  recorded: JSON.parse(readFileSync(`${folder}/${commit}.answers.json`, 'utf8')) as RecordedAnswers,
  items: readFileSync(`${folder}/${commit}.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => decodeAttributes(JSON.parse(line)) as Item),
}));

function decodeAttributes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(decodeAttributes);
  if ('$binary' in value) return new Uint8Array(Buffer.from((value as StoredBinary).$binary, 'base64'));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, decodeAttributes(member)]));
}

const reads = contracts.filter(({ method }) => method === 'GET');

async function read(url: string, recorded: RecordedAnswers): Promise<unknown> {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const { template, params = {} } =
    matchPath(
      reads.map(({ path }) => path),
      pathname,
    ) ?? {};
  const contract = reads.find(({ path }) => path === template);
  if (!contract) throw new Error(`No contract has the path ${pathname}.`);
  const options = { path: pathname, params, query: Object.fromEntries(searchParams) };
  return (await callWithSecretKey(contract, recorded, options)).body;
}

/** Leaves out the time of an answer, the number of requests, which the recording increased, and the deployment. */
const omitVariable = (answer: unknown): unknown =>
  JSON.parse(
    JSON.stringify(answer, (name, value) =>
      ['asOf', 'reqThisMonth', 'service', 'notificationUrl'].includes(name) ? undefined : value,
    ),
  );

/** Types without an item in each history: most exist after an error, or on a large table. */
const missingTypes = [
  'tableVersionKey',
  'catalogueAnnouncementKey',
  'alertsKey',
  'annotationKey',
  'exportScheduleKey',
  'sharedClaimKey',
  'purchaseCreditsKey',
  'nameWordKey',
  'creditAccountKey',
  'creditEntryKey',
  'creditMoveKey',
  'handledNotificationPartKey',
  'storedResultKey',
  'rawEventItemKey',
  'tokenBucketKey',
  'checkpointKey',
  'streamMarkerKey',
  'markerLogKey',
];

/** A first payment, or a ranking of products, of version 2. */
const isOfVersion2 = ({ pk, sk }: Item): boolean => /#C#/.test(String(pk)) && /^(FX?$|H#)/.test(String(sk));

describe.each(recordings)('items that $commit has stored', ({ commit, recorded, items }) => {
  const realNow = Date.now;
  let secrets: Awaited<ReturnType<typeof startSecretsManager>>;
  let service: Service;
  beforeAll(async () => {
    const table = await createTestTable(`stored-data-${commit}`);
    await table.batchPut(items);
    secrets = await startSecretsManager({ 'master-key': recorded.masterKey });
    Object.assign(process.env, { MASTER_KEY_ID: 'master-key', AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint });
    Date.now = () => recorded.now;
    const container: Container = { clientOptions: awsClientOptions };
    setContainerLookup(() => container);
    service = getService();
  });
  afterAll(async () => {
    Date.now = realNow;
    await secrets?.close();
  });

  it('are of known types', () => {
    const types = items.filter((item) => !isOfVersion2(item)).map((item) => findItemTypes(toKey(item)));
    expect(types.filter((found) => found.length !== 1)).toEqual([]);
    const found = new Set<string>(types.flat());
    if (commit === '2c5871a5') expect(Object.keys(namePlaces).filter((type) => !found.has(type))).toEqual(missingTypes);
  });

  // Later commits add fields to answers.
  it.each(Object.entries(recorded.answers))('give the same answer to %s', async (path, answer) => {
    expect(await read(path, recorded)).toMatchObject(omitVariable(answer) as object);
  });

  it('give the same answers after a migration', async () => {
    const converted = new Set(items.filter(isOfVersion2).map(({ pk }) => pk)).size;
    expect(await findTableVersion(service)).toEqual({ version: 2, isMarked: false });
    expect(await migrateTable(service)).toMatchObject({ from: 2, converted });
    expect(await findTableVersion(service)).toEqual({ version: tableVersion, isMarked: true });
    for (const [path, answer] of converted > 0 ? Object.entries(recorded.answers) : [])
      expect([path, await read(path, recorded)]).toMatchObject([path, omitVariable(answer)]);
  });
});
