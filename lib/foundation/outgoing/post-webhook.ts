/** A webhook to post. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type PostOutcome =
  | {
      readonly status: number;
      readonly retryAfter?: string;
      /** At most 4 KB of the response body. */
      readonly bodyExcerpt: string;
    }
  | {
      /** `forbidden`: the URL or its address is not allowed. */
      readonly failure: 'timeout' | 'no-connection' | 'forbidden';
      readonly message: string;
    };

/** Posts to an untrusted server. Never throws. */
export type PostWebhook = (request: WebhookRequest) => Promise<PostOutcome>;
