import { minuteMs } from '../lib/shared/time.ts';
import { type LocalService, startLocal } from '../local/start-local.ts';
import { getStoreKeys } from './run-keys.ts';

type Options = NonNullable<Parameters<typeof startLocal>[0]>;

/**
 * Starts a local service whose emulated stores have the keys of the test run: six RSA keys take more time than the rest
 * of a start. Instances of functions do not end while a test waits: a new one takes 0.2 s.
 */
export const startLocalService = async (options: Options = {}): Promise<LocalService> =>
  await startLocal({ storeKeys: getStoreKeys(), functionIdleMs: 10 * minuteMs, ...options });
