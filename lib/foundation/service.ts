import type { Cipher } from './cipher.ts';
import type { MessageQueue } from './message-queue.ts';
import type { PostWebhook } from './outgoing/post-webhook.ts';
import type { Table } from './table.ts';
import type { EpochMillis } from './time.ts';

/** The store emulator of the local runtime. Empty in a deployment. */
export interface StoreEmulator {
  /** All requests to stores are sent to it instead. */
  readonly url?: string;
  /** Trusted root certificates in DER, in addition to the roots of the stores. */
  readonly roots: readonly Uint8Array[];
  /** Multiplies the time limits of calls: emulator and table share a machine with the service and can be slow. */
  readonly timeFactor?: number;
  /** Set for a service on one machine. */
  readonly isLocal?: true;
  /** Apps that use the real stores, unlike the others. */
  readonly realApps?: readonly string[];
}

/**
 * What the tables and use cases of all features stand on, as their first argument. A container has one. Tests replace
 * members of it.
 */
export interface Service {
  now(): EpochMillis;
  readonly table: Table;
  readonly cipher: Cipher;
  readonly eventRetentionDays: number;
  /** Requests a second of one key of an app without its own limit. Default: `defaultRequestsPerSecond`. */
  readonly requestsPerKey?: number;
  /** Maximum number of parts of a counter. Only set for the aggregator. Default: 1. */
  readonly counterParts?: number;
  /** Counts the messages of `streamFailures`. Only set for the readers of problems. */
  readonly countStreamFailures?: () => Promise<number>;
  /** Metrics that CloudWatch reads from the log. Absent without CloudWatch. */
  readonly metrics?: { readonly namespace: string; write(lines: readonly string[]): void };
  /** Receiver of the spans of events. Absent without the deployment option `otlpTracesUrl`. */
  readonly spans?: { readonly url: string; readonly environment: NodeJS.ProcessEnv };
  readonly emulator: StoreEmulator;
  readonly postWebhook: PostWebhook;
  /** The queues. Their workers parse the messages. */
  readonly notificationQueue: MessageQueue;
  readonly refreshQueue: MessageQueue;
  readonly webhookQueue: MessageQueue;
  readonly forwardQueue: MessageQueue;
  readonly streamFailures: MessageQueue;
  /** Identity of the container, for the values that it keeps between invocations. */
  readonly container: object;
  /** Identity of the batch that the record is for, for the values that its messages share. */
  readonly batch?: object;
}

/** Creates a value, such as a cache, that each container has one of. It is created at its first use. */
export const perContainer = <T extends object>(create: () => T): ((service: Service) => T) =>
  perOwner(({ container }) => container, create);

/** Creates a value that each batch has one of, such as kept reads. Outside of a batch, each use creates one. */
export const perBatch = <T extends object>(create: (service: Service) => T): ((service: Service) => T) =>
  perOwner(({ batch }) => batch ?? {}, create);

function perOwner<T extends object>(
  findOwner: (service: Service) => object,
  create: (service: Service) => T,
): (service: Service) => T {
  const values = new WeakMap<object, T>();
  return (service) => {
    const owner = findOwner(service);
    const value = values.get(owner) ?? create(service);
    values.set(owner, value);
    return value;
  };
}

/** Returns the emulator for an app: without URL and roots if the app uses the real stores. */
export const selectEmulator = ({ realApps = [], ...emulator }: StoreEmulator, appName: string): StoreEmulator =>
  realApps.includes(appName) ? { roots: [], isLocal: true } : emulator;

/** On one machine, webhooks can go to the same machine, and resources of AWS are missing. */
export const isLocalService = ({ url, isLocal }: StoreEmulator): boolean => url !== undefined || isLocal === true;
