import type { Diagnosis, SettingsRejection, SettingsWarning } from '../settings-rejection.ts';
import type { StoreContext } from '../store-context.ts';
import { probeTransactions } from './check-settings.ts';
import { connectAppStore } from './connect-app-store.ts';
import { parseStoredSettings } from './settings.ts';

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
