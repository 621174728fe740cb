import { awsClientOptions, setConnectionAttemptTimeout } from '../lib/shared/connections.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { once } from '../lib/shared/once.ts';
import type { StoreEmulator } from '../lib/shared/store-emulator.ts';
import type { EpochMillis } from '../lib/shared/time.ts';

/*
 * COMPOSITION
 *
 * The files of this folder create the parts that several functions share, each at its first call and once per
 * container. Everything else is created by the function that uses it. Only this folder reads the environment of a
 * function, and importing it reads nothing.
 */

setConnectionAttemptTimeout();

export const now = (): EpochMillis => Date.now();

/** The engines of the local runtime share a machine with the service and can be slow. */
export const clientOptions = once(() => (process.env.AWS_ENDPOINT_URL_DYNAMODB === undefined ? awsClientOptions : {}));

export const emulator = once((): StoreEmulator => {
  const { STORE_EMULATOR_URL: url, STORE_EMULATOR_ROOT: root, STORE_TIME_FACTOR: factor } = process.env;
  const { LOCAL_SERVICE, REAL_STORE_APPS: realApps } = process.env;
  return {
    ...(url && { url }),
    roots: root ? [Buffer.from(root, 'base64')] : [],
    ...(LOCAL_SERVICE && { isLocal: true }),
    ...(url && factor && { timeFactor: Number(factor) }),
    ...(realApps && { realApps: realApps.split(',') }),
  };
});

/** Returns a variable of the environment. Throws `InternalError` if it is not set. */
export function requireVariable(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new ServiceError('InternalError', 'The service is not configured.', { cause: `${name} is not set` });
  return value;
}
