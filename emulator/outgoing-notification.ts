/** HTTP request of a server notification. */
export interface OutgoingNotification {
  readonly body: string;
  /** Builds the headers of an attempt. Signatures and tokens contain the time of the attempt. */
  readonly buildHeaders: (sentAt: number) => Readonly<Record<string, string>>;
  /** Delays between attempts, as in the real store. The delivery fails after the last one. */
  readonly retryDelaysMs: readonly number[];
  /** The real store accepts the response status as success. */
  readonly isDelivered: (status: number) => boolean;
}
