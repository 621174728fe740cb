import * as v from 'valibot';
import { createRejection } from '../settings-rejection.ts';
import type { CheckSettingsOptions } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { invalidSettingsError } from './api-errors.ts';
import type { ApiResult, AppStoreServerApi } from './app-store-server-api.ts';
import { connectAppStore } from './connect-app-store.ts';
import type { Environment } from './payloads.ts';
import { parseEnteredSettings } from './settings.ts';

/** No transaction has the id 0, so the response depends on the API key alone. */
const probePath = '/inApps/v1/transactions/0';

/** Requests a transaction that does not exist. The result shows whether the environment accepts the API key. */
export const probeTransactions = async (
  server: AppStoreServerApi,
  environment: Environment,
): Promise<ApiResult<unknown>> => await server.get(environment, probePath, v.unknown());

export async function checkSettings(context: StoreContext, { callStore }: CheckSettingsOptions): Promise<string> {
  const settings = parseEnteredSettings(context.settings);
  const server = await connectAppStore(settings, context);
  if (!server) {
    return settings.sharedSecret
      ? 'The format is valid. The shared secret can only be checked with a receipt.'
      : 'The format is valid. Without an API key, receipts are verified by their signatures only.';
  }
  if (!callStore) return 'The format is valid.';
  const production = await probeTransactions(server, 'Production');
  if (production.kind !== 'unauthorized') return 'The App Store accepted the API key.';
  const sandbox = await probeTransactions(server, 'Sandbox');
  if (sandbox.kind !== 'unauthorized') {
    return 'The App Store accepted the API key in the sandbox. Production accepts it after the first release of the app.';
  }
  throw invalidSettingsError(
    'issuerId, keyId, privateKey and bundleId must belong together',
    createRejection('credentials', production.reason),
  );
}
