import { minuteMs } from '../lib/foundation/time.ts';
import { installLightTableCalls } from '../local/light-table-calls.ts';
import { type LocalService, startLocal } from '../local/start-local.ts';
import { getStoreKeys } from './run-keys.ts';

type Options = NonNullable<Parameters<typeof startLocal>[0]>;

/**
 * Starts a local service whose emulated stores have the keys of the test run: six RSA keys take more time than the rest
 * of a start. Instances of functions do not end while a test waits: a new one takes 0.2 s. Functions and commands call
 * the table without the SDK. `FULL=1` uses the SDK.
 */
export async function startLocalService(options: Options = {}): Promise<LocalService> {
  const hasLightTableCalls = process.env.FULL !== '1';
  const defaults = { storeKeys: getStoreKeys(), functionIdleMs: 10 * minuteMs, hasLightTableCalls };
  const service = await startLocal({ ...defaults, ...options });
  // For the commands that run in this process.
  if (hasLightTableCalls) installLightTableCalls(service.environment.AWS_ENDPOINT_URL_DYNAMODB);
  return service;
}
