import type { EpochMillis } from '../shared/time.ts';
import type { ChainEntry } from '../webhooks/forward-order.ts';

/** The deliveries of forwards that have not ended, in order for each purchase and URL. */
export interface ForwardChainRepository {
  /** Idempotent. */
  add(entry: ChainEntry, now: EpochMillis): Promise<void>;
  /** Returns the first entry of a chain. */
  findFirst(appName: string, chain: string): Promise<ChainEntry | undefined>;
  remove(entry: ChainEntry): Promise<void>;
}
