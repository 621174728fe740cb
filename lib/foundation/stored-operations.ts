/**
 * Runs an operation, such as a charge, at most once per key, across containers and retries, and returns its stored JSON
 * result on later calls. Throws `Conflict` while another call runs the operation.
 */
export type RunOnce = <T extends object>(
  key: string,
  run: () => Promise<T>,
  /**
   * Called if an earlier run ended without a stored result. Returns its result, or undefined if that run changed
   * nothing.
   */
  recover: () => Promise<T | undefined>,
) => Promise<T>;

/** JSON results of a store adapter by key, kept for a week by default. */
export interface StoredResults {
  find(key: string): Promise<unknown>;
  /** Overwrites an earlier result. */
  save(key: string, result: object, retentionMs?: number): Promise<void>;
}

/** What one adapter of one app keeps between its operations. */
export interface StoredOperations {
  readonly runOnce: RunOnce;
  readonly storedResults: StoredResults;
}
