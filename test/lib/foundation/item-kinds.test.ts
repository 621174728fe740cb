import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import * as keys from '../../../lib/foundation/keys.ts';
import { findItemKinds, itemKinds } from '../../../testing/item-kinds.ts';

/** Titles of the table of items in the comment of keys.ts. */
function listDocumentedTitles(): string[] {
  const source = readFileSync('lib/foundation/keys.ts', 'utf8');
  const [, table = ''] = /\* Item {2}.*\n([\s\S]*?)\n \*\n \* INDEXES/.exec(source) ?? [];
  const lines = table.split('\n').map((line) => line.replace(/^ \* {1,3}/, ''));
  return lines.filter((line) => /^\S/.test(line)).map((line) => line.split(/ {2,}/)[0] ?? '');
}

/** The functions of keys.ts that build the key of an item, called with texts and a date. */
const buildKeys = (): (readonly [name: string, key: keys.Key])[] =>
  Object.entries(keys).flatMap(([name, build]) => {
    if (!/^(?!to[A-Z]|parse)\w+(?<!Sort)Key$/.test(name) || typeof build !== 'function') return [];
    const key = (build as (...args: unknown[]) => unknown)('app', ...buildArguments(name));
    return typeof key === 'object' && key !== null && 'pk' in key ? [[name, key as keys.Key] as const] : [];
  });

const product = { platform: 'store_a', productId: 'product' };

const buildArguments = (name: string): unknown[] => {
  if (name === 'notificationKey') return ['purchase', 1, 'id'];
  if (name === 'tagKey') return ['tag', 1, 'event'];
  if (name === 'handledNotificationPartKey') return [{ platform: 'store_a', key: 'key' }, 'purchase'];
  if (name === 'countedProductKey') return [product];
  if (name === 'checkpointKey') return ['shard', keys.counterKey('app', '2026-01-01')];
  if (name === 'counterKey') return ['2026-01-01', product];
  return ['2026-01-01', 'second', 'third'];
};

describe('itemKinds', () => {
  it('describes every kind of item that keys.ts documents', () => {
    expect(listDocumentedTitles()).toEqual(Object.keys(itemKinds));
  });

  it('assigns one kind to the key of every key builder', () => {
    const built = buildKeys();
    expect(built.length).toBeGreaterThan(25);
    for (const [name, key] of built) expect([name, findItemKinds(key)]).toEqual([name, [expect.any(String)]]);
  });
});
