import { createCache } from '../foundation/cache.ts';
import { hashParts } from '../foundation/key.ts';
import { type EpochMillis, minuteMs, secondMs } from '../foundation/time.ts';

const maxTokens = 300;
const renewBeforeExpiryMs = minuteMs;

/** An access token as an OAuth 2.0 token endpoint issues it. */
export interface IssuedToken {
  readonly token: string;
  readonly expiresInSeconds: number;
}

/** Access tokens of one store for all apps that this container serves. */
export interface TokenCache {
  /** Returns the cached token until a minute before it expires. Otherwise caches and returns a requested one. */
  getOrRequest(credentials: readonly string[], now: EpochMillis, request: () => Promise<IssuedToken>): Promise<string>;
  /** Removes a token that the store rejected, so that the next call requests another one. */
  evict(credentials: readonly string[]): void;
}

/** Creates a token cache. Its keys are digests of the credentials, so that no secret stays in memory. */
export function createTokenCache(): TokenCache {
  const tokens = createCache<string>(maxTokens);
  return {
    async getOrRequest(credentials, now, request) {
      const key = hashParts(...credentials);
      const cached = tokens.get(key, now);
      if (cached !== undefined) return cached;
      const { token, expiresInSeconds } = await request();
      tokens.set(key, token, { now, usableUntil: now + expiresInSeconds * secondMs - renewBeforeExpiryMs });
      return token;
    },
    evict: (credentials) => tokens.delete(hashParts(...credentials)),
  };
}
