import { beforeAll, describe, expect, it } from '@jest/globals';
import { contracts } from '../../lib/contracts/index.ts';
import { toKey } from '../../lib/foundation/key.ts';
import type { Service } from '../../lib/foundation/service.ts';
import type { Item } from '../../lib/foundation/table.ts';
import { tableVersion } from '../../lib/foundation/table-version.ts';
import { matchPath } from '../../lib/http/request.ts';
import { findTableVersion } from '../../lib/migration/find-table-version.ts';
import { migrateTable } from '../../lib/migration/migrate-table.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { findItemTypes, namePlaces } from '../../testing/item-types.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { startStoredDataService, storedData } from '../../testing/stored-data.ts';
import type { RecordedAnswers } from '../../testing/write-stored-data.ts';

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

/** Leaves out the time of a response, the number of requests, which the recording increased, and the deployment. */
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
  'mergesKey',
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

describe.each(storedData)('items of the release at $commit', (data) => {
  const { commit, recorded, items } = data;
  const started = startBeforeAll(async () => await startStoredDataService(`stored-data-${commit}`, data));
  let service: Service;
  beforeAll(async () => {
    ({ service } = started);
  });

  it('belong to known types', () => {
    const types = items.filter((item) => !isOfVersion2(item)).map((item) => findItemTypes(toKey(item)));
    expect(types.filter((found) => found.length !== 1)).toEqual([]);
    const found = new Set<string>(types.flat());
    if (commit === '2c5871a5') expect(Object.keys(namePlaces).filter((type) => !found.has(type))).toEqual(missingTypes);
  });

  // Later commits add fields to responses.
  it.each(Object.entries(recorded.answers))('returns the same response to %s', async (path, answer) => {
    expect(await read(path, recorded)).toMatchObject(omitVariable(answer) as object);
  });

  it('returns the same responses after a migration', async () => {
    const converted = new Set(items.filter(isOfVersion2).map(({ pk }) => pk)).size;
    expect(await findTableVersion(service)).toEqual({ version: 2, isMarked: false });
    expect(await migrateTable(service)).toMatchObject({ from: 2, converted });
    expect(await findTableVersion(service)).toEqual({ version: tableVersion, isMarked: true });
    for (const [path, answer] of converted > 0 ? Object.entries(recorded.answers) : [])
      expect([path, await read(path, recorded)]).toMatchObject([path, omitVariable(answer)]);
  });
});
