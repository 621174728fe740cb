import * as v from 'valibot';
import { Strategy } from '../purchases/claims.ts';
import { vocabularies } from '../shared/vocabulary.ts';

/** Name of an app. It is part of URLs and the first part of all keys of the app's items. */
export const AppName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
  v.check((name) => name !== 'APP' && name !== 'FX', 'a name that is not reserved'),
);

/** A stored API key: only its SHA-256 digest, in hex. */
export const KeyDigest = v.object({
  digest: v.string(),
  /** Set on the old key of a rotation. */
  expiresAt: v.exactOptional(v.number()),
});
export type KeyDigest = v.InferOutput<typeof KeyDigest>;

/** Webhook URLs and options of an app. */
export const WebhookSettings = v.object({
  urls: v.array(v.string()),
  /** URLs for webhooks of sandbox purchases; if empty, `urls` receive them, too. */
  sandboxUrls: v.array(v.string()),
  /** Whether the body includes the secret key. Servers that verify signatures do not need it. */
  includesPassword: v.boolean(),
});
export type WebhookSettings = v.InferOutput<typeof WebhookSettings>;

/** A tenant of the service: one client application with its API keys, settings and webhooks. */
export const App = v.object({
  name: AppName,
  publicKeys: v.array(KeyDigest),
  secretKeys: v.array(KeyDigest),
  strategy: Strategy,
  /** Vocabulary of webhooks and of responses to the secret key. Brand paths always use the brand vocabulary. */
  vocabulary: v.picklist(vocabularies),
  webhookSettings: v.exactOptional(WebhookSettings),
  createdAt: v.number(),
  deletedAt: v.exactOptional(v.number()),
});
export type App = v.InferOutput<typeof App>;

/** An app with the decrypted secrets of its webhooks. */
export interface WebhookSender {
  readonly app: App;
  readonly secretKey: string;
  /** Undefined until webhook settings are saved. */
  readonly signingSecret?: string;
}
