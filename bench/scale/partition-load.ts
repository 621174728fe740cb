import type { MeasuredOperation } from '../cost/run-operations.ts';
import { listIndexWrites } from '../units/capacity.ts';
import type { MeteredWrite } from '../units/meter.ts';

/** Write units of one operation by partition pattern, such as `byCreated a#P` or `table a#S`. */
export type PartitionUnits = ReadonlyMap<string, number>;

/**
 * Sections of partition keys that contain the id of one purchase, customer, store account, delivery or message. They
 * are never busy.
 */
const entitySections = ['P', 'C', 'U', 'K', 'D', 'G', 'J', 'N', 'O', 'A', 'V', 'F', 'X', 'T', 'B'];

/**
 * Returns the pattern of a partition key that many operations share: `a` replaces the app, `*` the number of a shard or
 * the product. Undefined for the partition of one entity. A partition of an unknown kind counts as shared.
 */
export function toSharedPattern(partition: string, space = 'table'): string | undefined {
  if (partition.startsWith('_') || partition.startsWith('APP#')) return undefined;
  if (/^DUE#\d+$/.test(partition)) return 'DUE#*';
  const [, section = '', ...rest] = partition.split('#');
  if (rest.length === 0) return section === '' ? partition : `a#${section}`;
  if (section === 'E') return /^\d{1,3}$/.test(rest.join('#')) ? 'a#E#*' : undefined;
  // Figures of platforms, and of each product.
  if (section === 'Z') return rest.length > 1 ? `a#Z#${rest[0]}#*` : `a#Z#${rest[0]}`;
  // The index contains lists only: the number is the shard of a list.
  if (space === 'byCreated') return `a#${section}#*`;
  return entitySections.includes(section) ? undefined : `a#${section}#*`;
}

/** Adds the write units of all writes by shared pattern. */
export function sumPartitionUnits(writes: readonly MeteredWrite[]): PartitionUnits {
  const totals = new Map<string, number>();
  const add = (space: string, partition: string, units: number) => {
    const pattern = toSharedPattern(partition, space);
    if (pattern === undefined || units === 0) return;
    const name = `${space} ${pattern}`;
    totals.set(name, (totals.get(name) ?? 0) + units);
  };
  for (const { key, table, index, change } of writes) {
    add('table', key.pk, table);
    // A write with a failed condition does not change the indexes.
    if (index > 0)
      for (const { indexName, partition, units } of listIndexWrites(change)) add(indexName, partition, units);
  }
  return totals;
}

/** Returns the write units of one operation by shared pattern. */
export function profileOperation({ invocations, count }: MeasuredOperation): PartitionUnits {
  const writes = invocations.flatMap(({ tableCalls }) => tableCalls).flatMap((call) => call.writes);
  return new Map([...sumPartitionUnits(writes)].map(([pattern, units]) => [pattern, units / count]));
}

/** The distribution of keys among shards. */
export interface ShardBalance {
  readonly shards: number;
  /** Share of the busiest shard. */
  readonly maxShare: number;
}

/** Counts the partitions of generated keys. */
export function simulateShards(count: number, toPartition: (number: number) => string): ShardBalance {
  const counts = new Map<string, number>();
  for (let number = 0; number < count; number++) {
    const partition = toPartition(number);
    counts.set(partition, (counts.get(partition) ?? 0) + 1);
  }
  return { shards: counts.size, maxShare: Math.max(...counts.values()) / count };
}
