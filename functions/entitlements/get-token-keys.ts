import { cipher } from '../../composition/cipher.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getTokenKeys } from '../../lib/api/entitlements.ts';
import { createTokenKeyRepository } from '../../lib/db/token-key-repository.ts';
import { isPublished, toPublicJwk } from '../../lib/entitlements/token-keys.ts';
import { createReply } from '../../lib/http/reply.ts';

/** Verifiers fetch the keys again for a key id that they do not have, so a short time is enough. */
const cacheControl = 'public, max-age=300';

export const handler = createHandler(getTokenKeys, () => ({
  tokenKeys: createTokenKeyRepository(table(), cipher()),
  now,
}))(async ({ query }, deps) => {
  const keys = await deps.tokenKeys.listPublicKeys(query.appName);
  const published = keys.filter((key) => isPublished(key, deps.now()));
  return createReply({
    body: { keys: published.map(toPublicJwk) },
    headers: { 'Cache-Control': cacheControl },
  });
});
