import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import type { Store } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { createApiToken } from './api-token.ts';
import { createAppStoreServerApi } from './app-store-server-api.ts';
import { getApiKey, parseEnteredSettings } from './settings.ts';

/** No transaction has this number: asking for it tells whether the key is accepted, and nothing else. */
const probePath = '/inApps/v1/transactions/0';

/** Checks the settings of an application, with `callStore` by a call to Apple that changes nothing. */
export async function checkSettings(
  context: StoreContext,
  { callStore }: Parameters<Store['checkSettings']>[1],
): Promise<string> {
  const settings = parseEnteredSettings(context.settings);
  const key = getApiKey(settings);
  if (!key) {
    return settings.sharedSecret
      ? 'The form is right. Apple tells whether the shared secret is right only together with a receipt.'
      : 'The form is right. Without an API key receipts are verified by their signatures alone.';
  }
  const token = createApiToken(key, settings.bundleId, context.now());
  if (!callStore) return 'The form is right.';
  const server = createAppStoreServerApi(context.fetch, token);
  const production = await server.get('Production', probePath, v.unknown());
  if (production.kind !== 'refused') return 'Apple accepts the API key.';
  const sandbox = await server.get('Sandbox', probePath, v.unknown());
  if (sandbox.kind !== 'refused') {
    return 'Apple accepts the API key in the sandbox; production knows the application from its first release on.';
  }
  throw new ServiceError(
    'InternalError',
    'Apple refuses the API key: issuerId, keyId, privateKey and bundleId must belong together.',
    { cause: production.reason },
  );
}
