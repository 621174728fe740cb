/** A running table engine: a server with the API of DynamoDB and of its streams. */
export interface TableEngine {
  readonly endpoint: string;
  /** Absent if `DYNAMODB_ENDPOINT` points to an existing server. */
  readonly pid?: number;
  /** Resolves with the reason when the server ends without `close`. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

export interface TableEngineOptions {
  /** Data folder. Each engine has its own folder in it. Without it, `close` deletes all data. */
  readonly directory?: string;
  readonly hasStreams?: boolean;
  /**
   * Interval of the deletion of expired items, if the engine deletes them on request only. Without it, they are kept.
   */
  readonly expirationIntervalMs?: number;
  /** Called after each of these deletions. */
  readonly onExpiration?: () => void;
}
