import { type LocalService, startLocal } from '../local/start-local.ts';
import { getStoreKeys } from './run-keys.ts';

type Options = NonNullable<Parameters<typeof startLocal>[0]>;

/**
 * Starts a local service whose emulated stores have the keys of the test run: six RSA keys take more time than the rest
 * of a start.
 */
export const startLocalService = async (options: Options = {}): Promise<LocalService> =>
  await startLocal({ storeKeys: getStoreKeys(), ...options });
