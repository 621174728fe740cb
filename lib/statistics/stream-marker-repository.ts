import type { EpochMillis } from '../shared/time.ts';

/** Key of a stream marker. */
interface StreamMarker {
  readonly pk: string;
  readonly sk: string;
}

/**
 * Stream markers: items that each shard of the stream delivers after all earlier writes. The aggregator deletes a
 * marker once it has counted the records before it.
 */
export interface StreamMarkerRepository {
  /** Creates markers for all shards and returns their keys. */
  create(appName: string, now: EpochMillis): Promise<StreamMarker[]>;
  /** Returns the markers that the aggregator has not passed. */
  findRemaining(markers: readonly StreamMarker[]): Promise<StreamMarker[]>;
  /** Idempotent: ignores markers that do not exist. */
  delete(markers: readonly StreamMarker[]): Promise<void>;
}
