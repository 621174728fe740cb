import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { getApp } from '../../../lib/apps/manage-apps.ts';
import { getService } from '../../../lib/foundation/get-service.ts';
import { toKey } from '../../../lib/foundation/key.ts';
import type { Item } from '../../../lib/foundation/table.ts';
import { tableVersion } from '../../../lib/foundation/table-version.ts';
import { scanItems } from '../../../testing/dump-items.ts';
import { givenAppData } from '../../../testing/given-app-data.ts';
import { givenCustomer } from '../../../testing/given-customer.ts';
import { givenServiceItems } from '../../../testing/given-service-items.ts';
import { findItemTypes, namePlaces } from '../../../testing/item-types.ts';
import { startTestService } from '../../../testing/service.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';

/** Members of the items that the code writes, each as `path: type`, by type of item. */
type Shapes = Readonly<Record<string, readonly string[]>>;

const file = 'test/fixtures/stored-data/item-shapes.json';
const recorded: { readonly version: number; readonly shapes: Shapes } = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : { version: 0, shapes: {} };

/** Objects with an entry for each product, counter or tag instead of members. */
const maps = /(^|\.)(before|catalogue|checkpoints|counts|perEuro|seen|tags|micros\w*|\w+By\w+)$/;

function* listMembers(value: unknown, path: string): Generator<string> {
  if (value instanceof Uint8Array) yield `${path}: binary`;
  else if (Array.isArray(value)) for (const entry of value) yield* listMembers(entry, `${path}[]`);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value))
      yield* listMembers(member, path === '' ? name : `${path}.${maps.test(path) ? '*' : name}`);
  else yield `${path}: ${value === null ? 'null' : typeof value}`;
}

function findShapes(items: readonly Item[]): Shapes {
  const members = new Map<string, Set<string>>();
  for (const item of items)
    for (const type of findItemTypes(toKey(item)))
      members.set(type, new Set([...(members.get(type) ?? []), ...listMembers(item, '')]));
  return Object.fromEntries([...members].sort().map(([type, paths]) => [type, [...paths].sort()]));
}

/** Lists what `a` has in addition to `b`. */
const subtract = (a: Shapes, b: Shapes): string[] =>
  Object.entries(a).flatMap(([type, members]) =>
    members.filter((member) => !b[type]?.includes(member)).map((member) => `${type} ${member}`),
  );

const service = startBeforeAll(async () => await startTestService('item-shapes'));
beforeAll(async () => {
  const keys = await service.createApp(['processor_a'], {}, 'shapes');
  await givenAppData({ keys, canary: 'canary', dollars: 1, payments: 2 });
  const customer = { username: 'grace hopper', alias: '3f2504e0-4f89-41d3-9a0c-0305e82c3301', companion: 'companion' };
  await givenCustomer(getService(), await getApp(getService(), 'shapes'), customer);
  await givenServiceItems(getService().table, 'shapes');
});

describe('stored items', () => {
  // RECORD_ITEM_SHAPES=1 npm test -- test/lib/migration/item-shapes.test.ts
  it('keep the recorded members, or the change was decided', async () => {
    const shapes = findShapes(await scanItems('item-shapes'));
    expect(Object.keys(shapes)).toEqual(Object.keys(namePlaces).sort());
    const [removed, added] = [subtract(recorded.shapes, shapes), subtract(shapes, recorded.shapes)];
    const hint =
      'A removed or changed member needs another tableVersion and a migration (docs/decisions/table.md). Readers must accept items without an added one (docs/operating/release.md). Then record with RECORD_ITEM_SHAPES=1.';
    if (process.env.RECORD_ITEM_SHAPES && (removed.length === 0 || tableVersion > recorded.version))
      writeFileSync(file, `${JSON.stringify({ version: tableVersion, shapes }, null, 1)}\n`);
    else
      expect({ hint, version: tableVersion, removed, added }).toEqual({
        hint,
        version: recorded.version,
        removed: [],
        added: [],
      });
  });
});
