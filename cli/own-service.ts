import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import type { ApiKeyLevel } from '../lib/apps/app.ts';
import { newKeyDelayMs } from '../lib/apps/app-table.ts';
import { createApiKey, revokeApiKey } from '../lib/apps/manage-apps.ts';
import { dayMs } from '../lib/foundation/time.ts';
import { readDeployment } from './doctor/deployment.ts';
import { getService } from './get-service.ts';

/** Returns the base URL of the connected service. Throws if neither an option nor the connection has it. */
export function requireOwnUrl(option: string | undefined): string {
  const url = option ?? process.env.API_URL ?? readDeployment(process.env)?.apiUrl;
  if (url === undefined) throw new InvalidArgumentError('Pass the base URL of this service as --url.');
  return url;
}

interface TemporaryKeyOptions {
  readonly appName: string;
  readonly level: ApiKeyLevel;
  readonly validMs?: number;
  /** Start of the name of the key, which the events of its requests have. */
  readonly prefix: string;
  readonly signal: AbortSignal;
}

/** Runs with a key of this service that expires (default: within a day) and is revoked at the end. */
export async function withTemporaryKey<T>(
  { appName, level, prefix, signal, validMs = dayMs }: TemporaryKeyOptions,
  run: (key: string) => Promise<T>,
): Promise<T> {
  const { now } = getService();
  const name = `${prefix}-${randomBytes(4).toString('hex')}`;
  const { key, id } = await createApiKey(getService(), appName, { level, name, validMs, now: now() });
  try {
    await sleep(newKeyDelayMs, undefined, { signal }).catch(() => {});
    return await run(key);
  } finally {
    await revokeApiKey(getService(), appName, id);
  }
}
