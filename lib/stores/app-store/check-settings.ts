import * as v from 'valibot';
import { createRejection, type Diagnosis, type SettingsRejection, type SettingsWarning } from '../settings.ts';
import type { CheckSettingsOptions } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { invalidSettingsError } from './api-errors.ts';
import { type ApiResult, type AppStoreServerApi, connectAppStore } from './app-store-server-api.ts';
import type { Environment } from './payloads.ts';
import { parseEnteredSettings, parseStoredSettings } from './settings.ts';

/** No transaction has the id 0, so the response depends on the API key alone. */
const probePath = '/inApps/v1/transactions/0';

/** Requests a transaction that does not exist. The result shows whether the environment accepts the API key. */
const probeTransactions = async (server: AppStoreServerApi, environment: Environment): Promise<ApiResult<unknown>> =>
  await server.get(environment, probePath, v.unknown());

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

/** Apple returns 401 without a reason for a wrong or revoked key, a different kind of key and a different bundle id. */
export function describeRejection(_rejection: SettingsRejection, settings: unknown): Diagnosis {
  const { bundleId, keyId = '' } = parseStoredSettings(settings);
  return {
    problem: `The App Store rejects the key ${keyId} for the bundle id ${bundleId}, in production and in the sandbox.`,
    cure: 'Compare issuerId, keyId and bundleId with App Store Connect, Users and Access, Integrations, In-App Purchase. If the key is revoked or not an in-app purchase key, generate an in-app purchase key. Then run `app set-store`.',
  };
}

export async function listSettingsWarnings(context: StoreContext): Promise<readonly SettingsWarning[]> {
  const settings = parseStoredSettings(context.settings);
  const server = await connectAppStore(settings, context);
  if (!server) return settings.sharedSecret ? [] : [noCredentialsWarning];
  const production = await probeTransactions(server, 'Production');
  return production.kind === 'unauthorized' ? [notReleasedWarning] : [];
}

const noCredentialsWarning: SettingsWarning = {
  code: 'no-credentials',
  problem:
    'The settings of the App Store contain neither an API key nor a shared secret, so renewals and refunds after a validation are missing.',
  cure: 'Generate an in-app purchase key in App Store Connect, add issuerId, keyId and privateKey, and run `app set-store`.',
};

/** @see https://github.com/apple/app-store-server-library-java/issues/92 */
const notReleasedWarning: SettingsWarning = {
  code: 'not-released',
  problem: 'The App Store accepts the API key in the sandbox only.',
  cure: 'Production accepts the key after the first release of the app. If the app is released, check that bundleId is the bundle id of the released app.',
};
