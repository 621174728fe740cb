import { createHash } from 'node:crypto';
import { isDay } from '../foundation/calendar.ts';
import { type Key, toDigest } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { Platform } from '../foundation/platform.ts';

/** A product of a platform. Product ids are unique within a platform only. */
export interface Product {
  readonly platform: Platform;
  readonly productId: string;
}

/**
 * Counters of figures: one for all platforms, one for each cell (the payments of a product in a country), one for the
 * cohorts of each cell, and one for all credits. Payments of an earlier release have one for all countries and one for
 * each product instead of cells.
 */
export type CounterKind = 'platforms' | 'cells' | 'cohorts' | 'credits' | 'countries' | 'product';

const partitionLetters = { cells: 'K', cohorts: 'H', product: 'Q' } as const;

/**
 * The counters of an app, a product or a dimension of the figures. Figures have their own counters: they are read over
 * years, and the lists and the overview read the others with each page.
 */
export interface CounterGroup {
  readonly isSandbox?: boolean | undefined;
  readonly product?: Product | undefined;
  readonly kind?: CounterKind | undefined;
  /** The country of a cell. Undefined in a query of all cells of the product. */
  readonly country?: string | undefined;
}

/** Builds the key of a counter for a day (`YYYY-MM-DD`) or a month (`YYYY-MM`). */
export const counterKey = (appName: string, period: string, group: CounterGroup = {}): Key => ({
  pk: counterPartition(appName, group),
  sk:
    (isDay(period) ? keys.dayCounterKey.sortKey(period) : keys.monthCounterKey.sortKey(period)) +
    (group.country === undefined ? '' : `#${group.country}`),
});

/** Returns the partition of the counters of an app, a product or the figures of a dimension, or of their sandbox. */
export function counterPartition(appName: string, { isSandbox, product, kind }: CounterGroup = {}): string {
  const toFigures = (group: string): string => keys.figuresKey.partition(appName, group);
  if (isSandbox) return toFigures(`X#${omitAppName(appName, counterPartition(appName, { product, kind }))}`);
  if (kind === 'platforms') return toFigures('P');
  if (kind === 'countries') return toFigures('C');
  if (kind === 'credits') return toFigures('B');
  if (!product) return keys.dayCounterKey.partition(appName);
  const { platform, digest } = toProductParts(product);
  if (!kind) return keys.productCounterKey.partition(appName, platform, digest);
  return toFigures(`${partitionLetters[kind]}#${platform}#${digest}`);
}

const omitAppName = (appName: string, partition: string): string => partition.slice(appName.length + 1);

/** Product ids can be too long for a key. */
const toProductParts = ({ platform, productId }: Product) => ({ platform, digest: toDigest(productId) });

/** Names a cell among the cells of its platform, within the sums of a platform. */
export const toCellName = ({ productId, country }: { readonly productId: string; readonly country: string }): string =>
  `${toDigest(productId).slice(0, 8)}.${country}`;

/**
 * Builds the key of a part of a counter. Part 0 is the counter itself. The others follow it in its partition, so that
 * one query returns all parts.
 */
export const toPartKey = ({ pk, sk }: Key, part: number): Key => ({ pk, sk: part === 0 ? sk : `${sk}#${part}` });

/** Returns bounds of the sort keys of all parts of a counter. */
export const toPartRange = ({ sk }: Key): [string, string] => [sk, `${sk}#~`];

/** Chooses the part of a shard among those after part 0. 0 if there are none. */
export const pickPart = (shard: string, parts: number): number =>
  parts === 1 ? 0 : 1 + (createHash('sha256').update(shard).digest().readUInt32BE() % (parts - 1));

/** Builds the key of the checkpoint that a shard of the stream has for a counter. */
export const toCheckpointKey = (appName: string, shard: string, counter: Key): Key =>
  keys.checkpointKey(appName, shard, `${omitAppName(appName, counter.pk)}#${counter.sk}`);

/** Builds the key of the item that lists a product among the counted products of the app. */
export const toCountedProductKey = (appName: string, product: Product): Key =>
  keys.countedProductKey(appName, product.platform, toDigest(product.productId));

const isPart = (text: string | undefined): boolean => text !== undefined && /^\d+$/.test(text);

/** Returns the day or month of a counter's sort key, and the country of a cell. */
export function parseCounterPeriod(sk: string): { readonly period: string; readonly country?: string } {
  const [period = '', country] = sk.slice(keys.dayCounterKey.sortKey().length).split('#');
  return { period, ...(country !== undefined && !isPart(country) && { country }) };
}

/** Returns the number of the part of a counter's sort key. */
export function parsePart(sk: string): number {
  const last = sk.split('#').at(-1);
  return isPart(last) ? Number(last) : 0;
}
