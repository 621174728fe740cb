import { AppStoreServerAPIClient, Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import type { EmulatorClient } from './emulator-client.ts';

const hosts: Readonly<Record<string, string>> = {
  [Environment.PRODUCTION]: 'api.storekit.apple.com',
  [Environment.SANDBOX]: 'api.storekit-sandbox.apple.com',
};

/** Creates Apple's verifier with the emulator's root certificate. */
export function createVerifier(client: EmulatorClient, environment = Environment.PRODUCTION): SignedDataVerifier {
  const { bundleId, appAppleId } = client.settings('store_a');
  return new SignedDataVerifier([client.rootCertificate], false, environment, String(bundleId), Number(appAppleId));
}

/** Creates Apple's API client with its calls redirected to the emulator. */
export function createApiClient(client: EmulatorClient, environment = Environment.PRODUCTION): AppStoreServerAPIClient {
  const {
    privateKey = '',
    keyId = '',
    issuerId = '',
    bundleId = '',
  } = client.settings('store_a') as Record<string, string>;
  const makeFetchRequest = (
    path: string,
    query: URLSearchParams,
    method: string,
    body: string,
    headers: Record<string, string>,
  ) => fetch(`${client.url}/${hosts[environment]}${path}?${query}`, { method, headers, ...(body && { body }) });
  return Object.assign(new AppStoreServerAPIClient(privateKey, keyId, issuerId, bundleId, environment), {
    makeFetchRequest,
  });
}
