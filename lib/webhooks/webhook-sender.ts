import type { App } from '../apps/app.ts';

/** An app with the decrypted secrets that its webhooks need. */
export interface WebhookSender {
  readonly app: App;
  readonly secretKey: string;
  /** Absent until a webhook URL is set for the first time. */
  readonly signingSecret?: string;
}
