import { once } from './cache.ts';
import { createCipher } from './cipher.ts';
import { clientOptions, getContainer, setConnectionAttemptTimeout } from './container.ts';
import { ServiceError } from './errors.ts';
import { createMessageQueue } from './message-queue.ts';
import type { PostWebhook } from './outgoing/post-webhook.ts';
import { isLocalService, type Service, type StoreEmulator } from './service.ts';
import { createTableClient } from './table.ts';
import { guardVersion } from './table-version.ts';
import type { EpochMillis } from './time.ts';

setConnectionAttemptTimeout();

/**
 * Returns the service record of this container, which the first call creates from the environment. Settings of the
 * service are read in this file only, but for the console, which has no service record. Throws `InternalError` for an
 * invalid retention of events: it must stop the service before it loses events.
 */
export function getService(): Service {
  const container = getContainer();
  container.service ??= createServiceFromEnvironment();
  return container.service;
}

function createServiceFromEnvironment(): Service {
  const now = (): EpochMillis => Date.now();
  return createServiceRecord({
    now,
    table: guardVersion(createTableClient(requireVariable('TABLE_NAME'), clientOptions())),
    cipher: createCipher(() => fetchMasterSecret(requireVariable('MASTER_KEY_ID')), now),
    emulator: readEmulator(process.env),
  });
}

/** Writes past `console`, which Lambda wraps in an object that CloudWatch does not read metrics from. */
const writeLines = (lines: readonly string[]) => void process.stdout.write(lines.map((line) => `${line}\n`).join(''));

/** Creates a service record over a table. The environment names its queues and settings. */
export const createServiceRecord = (parts: Pick<Service, 'now' | 'table' | 'cipher' | 'emulator'>): Service => ({
  ...parts,
  eventRetentionDays: parseRetentionDays(process.env),
  ...(process.env.REQUESTS_PER_KEY && { requestsPerKey: Number(process.env.REQUESTS_PER_KEY) }),
  ...(process.env.METRICS_NAMESPACE &&
    !isLocalService(parts.emulator) && { metrics: { namespace: process.env.METRICS_NAMESPACE, write: writeLines } }),
  ...(process.env.OTLP_TRACES_URL && { spans: { url: process.env.OTLP_TRACES_URL, environment: process.env } }),
  postWebhook: createPostWebhook(parts.emulator, process.env),
  notificationQueue: createQueue('NOTIFICATIONS_QUEUE_URL'),
  refreshQueue: createQueue('REFRESHES_QUEUE_URL'),
  webhookQueue: createQueue('WEBHOOKS_QUEUE_URL'),
  forwardQueue: createQueue('FORWARDS_QUEUE_URL'),
  streamFailures: createQueue('STREAM_FAILURES_QUEUE_URL'),
  container: {},
});

/** Returns the maximum number of parts of a counter, 1 by default. Only the aggregator needs it. */
export const getCounterParts = (): number => Number(process.env.COUNTER_PARTS ?? 1);

/** Returns the URL of the queue of stream failures. Undefined for a function that cannot read it. */
export const getStreamFailuresUrl = (): string | undefined => process.env.STREAM_FAILURES_QUEUE_URL;

/** Returns a variable of the environment. Throws `InternalError` if it is not set. */
export function requireVariable(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new ServiceError('InternalError', 'The service is not configured.', { cause: `${name} is not set` });
  return value;
}

const createQueue = (variable: string) => createMessageQueue(() => requireVariable(variable), clientOptions());

/** Loads the Secrets Manager client when a secret is needed, which most requests do not. */
async function fetchMasterSecret(id: string): Promise<string> {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { SecretString } = await new SecretsManagerClient(clientOptions()).send(
    new GetSecretValueCommand({ SecretId: id }),
  );
  if (!SecretString) throw new ServiceError('InternalError', 'The master key is missing.');
  return SecretString;
}

/** Returns the retention of events, 90 days by default. Throws `InternalError` if it is not a number of days. */
function parseRetentionDays({ EVENT_RETENTION_DAYS: days = '90' }: NodeJS.ProcessEnv): number {
  if (/^[1-9]\d{0,4}$/.test(days)) return Number(days);
  throw new ServiceError('InternalError', 'The service is not configured.', {
    cause: 'EVENT_RETENTION_DAYS is not a number of days',
  });
}

function readEmulator(environment: NodeJS.ProcessEnv): StoreEmulator {
  const { STORE_EMULATOR_URL: url, STORE_EMULATOR_ROOT: root, STORE_TIME_FACTOR: factor } = environment;
  const { LOCAL_SERVICE, REAL_STORE_APPS: realApps } = environment;
  return {
    ...(url && { url }),
    roots: root ? [Buffer.from(root, 'base64')] : [],
    ...(LOCAL_SERVICE && { isLocal: true }),
    ...(url && factor && { timeFactor: Number(factor) }),
    ...(realApps && { realApps: realApps.split(',') }),
  };
}

/** Loads the HTTP client with the first webhook. */
function createPostWebhook(emulator: StoreEmulator, { WEBHOOK_TIMEOUT_MS: timeoutMs }: NodeJS.ProcessEnv): PostWebhook {
  const options = { allowsLoopback: isLocalService(emulator), ...(timeoutMs && { timeoutMs: Number(timeoutMs) }) };
  const load = once(async () => {
    const { createGuardedPost } = await import('./outgoing/guarded-post.ts');
    return createGuardedPost(options);
  });
  return async (message) => await (await load())(message);
}
