import { getTokenKeys } from '../../lib/entitlements/contract.ts';
import { isPublished, toPublicJwk } from '../../lib/entitlements/token-key.ts';
import { listPublicTokenKeys } from '../../lib/entitlements/token-key-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { createOpenHandler } from '../../lib/http/open-endpoint.ts';
import { createReply } from '../../lib/http/response.ts';

/** Verifiers fetch the keys again for a key id that they do not have, so a short time is enough. */
const cacheControl = 'public, max-age=300';

export const handler = createOpenHandler(getTokenKeys)(async ({ query }) => {
  const service = getService();
  const keys = await listPublicTokenKeys(service, query.appName);
  const published = keys.filter((key) => isPublished(key, service.now()));
  return createReply({
    body: { keys: published.map(toPublicJwk) },
    headers: { 'Cache-Control': cacheControl },
  });
});
