import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import type { Asking, Store } from '../store.ts';
import { apiToken } from './api-token.ts';
import { appStoreServer } from './app-store-server.ts';
import { apiKeyOf, enteredSettings } from './settings.ts';

/** No transaction has this number: asking for it tells whether the key is accepted, and nothing else. */
const noTransaction = '/inApps/v1/transactions/0';

/** Checks the settings of an application, with `askStore` by a call to Apple that changes nothing. */
export async function checkSettings(
  asking: Asking,
  { askStore }: Parameters<Store['checkSettings']>[1],
): Promise<string> {
  const settings = enteredSettings(asking.settings);
  const key = apiKeyOf(settings);
  if (!key) {
    return settings.sharedSecret
      ? 'The form is right. Apple tells whether the shared secret is right only together with a receipt.'
      : 'The form is right. Without an API key receipts are verified by their signatures alone.';
  }
  const token = apiToken(key, settings.bundleId, asking.now());
  if (!askStore) return 'The form is right.';
  const server = appStoreServer(asking.fetch, token);
  const production = await server.get('Production', noTransaction, v.unknown());
  if (production.kind !== 'refused') return 'Apple accepts the API key.';
  const sandbox = await server.get('Sandbox', noTransaction, v.unknown());
  if (sandbox.kind !== 'refused') {
    return 'Apple accepts the API key in the sandbox; production knows the application from its first release on.';
  }
  throw new ServiceError(
    'InternalError',
    'Apple refuses the API key: issuerId, keyId, privateKey and bundleId must belong together.',
    { cause: production.reason },
  );
}
