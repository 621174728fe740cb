import type { StoreFetch } from '../../lib/stores/store-context.ts';
import type { Pseudonyms } from './pseudonyms.ts';
import { replaceInBody, replaceInJson, replaceInUrl } from './replace-personal-values.ts';

/** A request to a store with its response. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  /** JSON with decoded signatures, or text. */
  readonly body: unknown;
}

/** A notification that arrived in a step. */
export interface RecordedNotification {
  readonly type: string;
  readonly receivedAt: number;
  /** Its payload, if the store keeps it. */
  readonly content?: unknown;
}

/** The state of the purchase after a step, with the responses of the store in this state. */
export interface RecordedStep {
  readonly name: string;
  /** Time of the service at the responses, in epoch milliseconds. */
  readonly at: number;
  /** Customers who have sent the receipt, in their order. */
  readonly claimants: readonly string[];
  readonly notifications: readonly RecordedNotification[];
  readonly exchanges: readonly Exchange[];
  /** The purchase in the API. */
  readonly purchase: Readonly<Record<string, unknown>>;
}

/** A proof without personal values, which tests replay. */
export interface Recording {
  readonly format: 'claimcheck-recording/1';
  readonly platform: string;
  readonly isSandbox: boolean;
  readonly strategy: string;
  readonly version: string;
  readonly recordedAt: string;
  /** The settings that identify the app at the store. Absent are secrets. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** What the adapter needs to query the purchase. */
  readonly refreshToken: Readonly<Record<string, unknown>>;
  readonly purchaseId: string;
  readonly steps: readonly RecordedStep[];
}

/** Wraps the fetch of an adapter and keeps the requests with their responses. */
export function createExchangeRecorder(fetch: StoreFetch) {
  const exchanges: { method: string; url: string; status: number; text: string }[] = [];
  return {
    fetch: (async (url, init = {}) => {
      const response = await fetch(url, init);
      exchanges.push({ method: init.method ?? 'GET', url, status: response.status, text: response.text });
      return response;
    }) satisfies StoreFetch,
    /** Returns the exchanges without personal values. Leaves out the requests of access tokens. */
    list(pseudonyms: Pseudonyms): readonly Exchange[] {
      const kept = exchanges.filter(({ url }) => !tokenHosts.has(new URL(url).host));
      const bodies = kept.map(({ text }) => replaceInBody(text, pseudonyms));
      return kept.map(({ method, url, status }, index) => ({
        method,
        url: replaceInUrl(url, pseudonyms),
        status,
        body: bodies[index],
      }));
    },
  };
}

/** Hosts that return access tokens, which a recording must not have. */
const tokenHosts: ReadonlySet<string> = new Set(['oauth2.googleapis.com', 'login.microsoftonline.com']);

/** Settings that are not secret. */
const publicSettings: ReadonlySet<string> = new Set([
  ...['bundleId', 'appAppleId', 'packageName', 'merchantId', 'environment', 'timeZone', 'graceDays', 'catalogue'],
  ...['clientId', 'tenantId', 'sandboxId'],
]);

/** Picks the settings that identify the app, without personal values. */
export function toRecordedSettings(settings: unknown, pseudonyms: Pseudonyms): Readonly<Record<string, unknown>> {
  const entries = Object.entries((settings ?? {}) as object).filter(([name]) => publicSettings.has(name));
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      name === 'catalogue' ? replaceCatalogue(value, pseudonyms) : replaceSetting(name, value, pseudonyms),
    ]),
  );
}

const replaceSetting = (name: string, value: unknown, pseudonyms: Pseudonyms): unknown =>
  name === 'timeZone' ? value : replaceInJson(value, pseudonyms, name);

/** The keys of the catalogue are product ids. */
const replaceCatalogue = (catalogue: unknown, pseudonyms: Pseudonyms): object =>
  Object.fromEntries(
    Object.entries((catalogue ?? {}) as object).map(([productId, product]) => [
      pseudonyms.replace(productId),
      replaceInJson(product, pseudonyms),
    ]),
  );
