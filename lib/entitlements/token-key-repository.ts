import * as v from 'valibot';

/** A public key of entitlement tokens, as coordinates of P-256 in base64url. Times in epoch milliseconds. */
export const TokenKey = v.object({
  kid: v.string(),
  x: v.string(),
  y: v.string(),
  createdAt: v.number(),
  /** When a replaced key is no longer published. */
  expiresAt: v.exactOptional(v.number()),
});
export type TokenKey = v.InferOutput<typeof TokenKey>;

/** The keys of an app: the one that signs, the next one, then replaced ones. The private parts are by key id. */
export interface TokenKeySet {
  readonly keys: readonly TokenKey[];
  readonly privateKeys: Readonly<Record<string, string>>;
}

/** The keys of entitlement tokens of all apps. */
export interface TokenKeyRepository {
  /** Returns the keys of the app. Saves what `create` returns if it has none. */
  getOrCreate(appName: string, create: () => TokenKeySet): Promise<TokenKeySet>;
  /** Replaces the keys with what `change` returns. Calls it again if another writer interferes. */
  update(appName: string, change: (keys: TokenKeySet | undefined) => TokenKeySet): Promise<TokenKeySet>;
  /** Lists the public keys of one app, or of all apps. */
  listPublicKeys(appName: string | undefined): Promise<TokenKey[]>;
  /** Encrypts the private keys under the current master key. Returns whether they were under another one. */
  reencrypt(appName: string): Promise<boolean>;
}
