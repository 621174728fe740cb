import * as v from 'valibot';
import { Strategy } from '../purchases/claims.ts';

/** Names that clients put into URLs and that start every key of the application's rows. */
export const AppName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, dashes and underscores'),
  v.check((name) => name !== 'APP' && name !== 'FX', 'a name that the table does not use itself'),
);

/** A key that opens the application's endpoints, kept as the SHA-256 digest of its text in hex. */
export const KeyDigest = v.object({
  digest: v.string(),
  /** Set on the old key of a rotation: it opens nothing from then on. */
  expiresAt: v.exactOptional(v.number()),
});
export type KeyDigest = v.InferOutput<typeof KeyDigest>;

/** Where the application's server takes webhooks, and how it likes them. */
export const WebhookSettings = v.object({
  urls: v.array(v.string()),
  /** Where set, sandbox purchases go there and nowhere else. */
  sandboxUrls: v.array(v.string()),
  /** Whether the body carries the secret key; a server that checks signatures does not need it. */
  includesPassword: v.boolean(),
});
export type WebhookSettings = v.InferOutput<typeof WebhookSettings>;

/** In which words an application is written to. */
export const vocabularies = ['neutral', 'brand'] as const;

/** An application: the client of this service whose users buy. */
export const App = v.object({
  name: AppName,
  publicKeys: v.array(KeyDigest),
  secretKeys: v.array(KeyDigest),
  strategy: Strategy,
  /** The words of answers to the secret key and of webhooks; callers on brand paths are answered in brand words anyway. */
  vocabulary: v.picklist(vocabularies),
  webhookSettings: v.exactOptional(WebhookSettings),
  createdAt: v.number(),
  deletedAt: v.exactOptional(v.number()),
});
export type App = v.InferOutput<typeof App>;
