/** A server notification as the store posts it to the URL that its owner configured. */
export interface OutgoingNotification {
  readonly body: string;
  /** Signatures and tokens with a time in them are made anew for each attempt. */
  readonly buildHeaders: (sentAt: number) => Readonly<Record<string, string>>;
  /** Milliseconds after a failed attempt until the next, as the real store does it; after the last it gives up. */
  readonly retryDelaysMs: readonly number[];
  /** Which answers the real store takes for success. */
  readonly isDelivered: (status: number) => boolean;
}
