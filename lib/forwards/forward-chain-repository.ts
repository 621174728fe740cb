import type { EpochMillis } from '../shared/time.ts';

/** The place of a delivery among the messages of one purchase for one URL. */
export interface ChainEntry {
  readonly appName: string;
  /** Id of the chain. */
  readonly chain: string;
  readonly receivedAt: EpochMillis;
  readonly deliveryId: string;
}

/** The deliveries of forwards that have not ended, in order for each purchase and URL. */
export interface ForwardChainRepository {
  add(entry: ChainEntry): Promise<void>;
  /** Returns the first entry of a chain. */
  findFirst(appName: string, chain: string): Promise<ChainEntry | undefined>;
  remove(entry: ChainEntry): Promise<void>;
}
