import { type Key, toDigest } from '../foundation/key.ts';
import * as keys from '../foundation/keys.ts';
import type { Platform } from '../foundation/platform.ts';

/** A product of a platform. Product ids are unique within a platform only. */
export interface Product {
  readonly platform: Platform;
  readonly productId: string;
}

/** Counters of figures: one for all platforms, one for all countries, one for each product, and one for all credits. */
export type FiguresDimension = 'platforms' | 'countries' | 'product' | 'credits';

/**
 * The counters of an app, a product or a dimension of the figures. Figures have their own counters: they are read over
 * years, and the lists and the overview read the others with each page.
 */
export interface CounterGroup {
  readonly isSandbox?: boolean | undefined;
  readonly product?: Product | undefined;
  readonly figures?: FiguresDimension | undefined;
}

/** Builds the key of a counter for a day (`YYYY-MM-DD`) or a month (`YYYY-MM`). */
export const counterKey = (appName: string, period: string, group: CounterGroup = {}): Key => ({
  pk: counterPartition(appName, group),
  sk: period.length === 'YYYY-MM'.length ? keys.monthCounterKey.sortKey(period) : keys.dayCounterKey.sortKey(period),
});

/** Returns the partition of the counters of an app, a product or the figures of a dimension, or of their sandbox. */
export function counterPartition(appName: string, { isSandbox, product, figures }: CounterGroup = {}): string {
  const toFigures = (group: string): string => keys.figuresKey.partition(appName, group);
  if (isSandbox) return toFigures(`X#${omitAppName(appName, counterPartition(appName, { product, figures }))}`);
  if (figures === 'platforms') return toFigures('P');
  if (figures === 'countries') return toFigures('C');
  if (figures === 'credits') return toFigures('B');
  if (!product) return keys.dayCounterKey.partition(appName);
  const { platform, digest } = toProductParts(product);
  return figures ? toFigures(`Q#${platform}#${digest}`) : keys.productCounterKey.partition(appName, platform, digest);
}

const omitAppName = (appName: string, partition: string): string => partition.slice(appName.length + 1);

/** Product ids can be too long for a key. */
const toProductParts = ({ platform, productId }: Product) => ({ platform, digest: toDigest(productId) });

/** Builds the key of the checkpoint that a shard of the stream has for a counter. */
export const toCheckpointKey = (appName: string, shard: string, counter: Key): Key =>
  keys.checkpointKey(appName, shard, `${omitAppName(appName, counter.pk)}#${counter.sk}`);

/** Builds the key of the item that lists a product among the counted products of the app. */
export const toCountedProductKey = (appName: string, product: Product): Key =>
  keys.countedProductKey(appName, product.platform, toDigest(product.productId));

/** Returns the day or month of a counter's sort key. */
export const parseCounterPeriod = (sk: string): string => sk.slice(keys.dayCounterKey.sortKey().length);
