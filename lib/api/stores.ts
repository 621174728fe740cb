import * as v from 'valibot';
import { Platform } from '../foundation/platform.ts';
import { toNeutralId } from '../foundation/vocabulary.ts';
import { defineContract } from './contract.ts';
import { PlatformToken } from './enumerations.ts';
import { DateTime } from './schemas.ts';

// Spec: not shown. The connection of the app to its stores, for the console.
const common = { area: 'stores', keyLevel: 'secret', errorFormat: 'default', aliases: [] } as const;

/** The last request to a store without a usable response. */
export const StoreFailure = v.strictObject({ date: DateTime, message: v.string() });

export const StoreRequestCounts = v.strictObject({ numRequests: v.number(), numFailures: v.number() });

/** State of the connection to a store. */
export const StoreStatus = v.strictObject({
  platform: PlatformToken,
  /** Absent for a store that does not push notifications. */
  notificationUrl: v.exactOptional(v.string()),
  lastNotificationAt: v.exactOptional(DateTime),
  /** Last usable response of the store. */
  lastSuccessAt: v.exactOptional(DateTime),
  /** Last request without a usable response. */
  lastFailure: v.exactOptional(StoreFailure),
  /**
   * Last refresh that failed because the StoreID key of a customer has expired. Present for two days: a purchase
   * without a valid key is refreshed daily.
   */
  expiredKey: v.exactOptional(StoreFailure),
  /** Whether the store has not given a usable response since the last failure. */
  isFailing: v.boolean(),
  /**
   * `unused`: no request and no notification. `failing`: at least half of the requests of the last hour failed, or the
   * latest ones in succession. `degraded`: at least a tenth of them failed.
   */
  health: v.picklist(['unused', 'ok', 'degraded', 'failing']),
  /** Requests in the last hour, counted like the requests of the last day. */
  lastHour: StoreRequestCounts,
  /**
   * Requests to the store in the last 24 hours, and those without a usable response. Requests of the last minute and of
   * a function instance that has ended can be missing.
   */
  lastDay: StoreRequestCounts,
});

export const listStores = defineContract({
  ...common,
  id: 'list-stores',
  summary: 'List the connected stores with the latest notification, response and failure',
  method: 'GET',
  path: '/v3/stores',
  eventType: 'stores.read',
  response: v.strictObject({
    appName: v.string(),
    /** Stores with settings. Times can be one minute old. */
    rows: v.array(StoreStatus),
  }),
  permissions: [],
});

/** A platform in the neutral or the brand vocabulary. */
const PlatformParam = v.pipe(
  v.string(),
  v.transform((token) => toNeutralId(`${token}:`).slice(0, -1)),
  Platform,
);

/** A finding of the check of the settings of a store. */
export const StoreFinding = v.strictObject({
  code: v.string(),
  severity: v.picklist(['error', 'warning', 'note']),
  problem: v.string(),
  cure: v.string(),
});

export const checkStore = defineContract({
  ...common,
  id: 'check-store',
  summary: 'Check the settings of a store with requests to it, and get what is wrong and how to correct it',
  method: 'POST',
  path: '/v3/stores/:platform/check',
  eventType: 'store.checked',
  params: v.object({ platform: PlatformParam }),
  response: v.strictObject({
    platform: PlatformToken,
    isConnected: v.boolean(),
    /** Whether there is no finding of severity `error`. */
    ok: v.boolean(),
    /** What the store has accepted. Absent if it rejects the settings. */
    summary: v.exactOptional(v.string()),
    findings: v.array(StoreFinding),
  }),
  permissions: ['write', 'stores'],
});

// Spec: not shown. The command `app set-store`.
export const setStore = defineContract({
  ...common,
  id: 'set-store',
  summary: 'Set the settings of a store after the store has accepted them',
  method: 'PUT',
  path: '/v3/stores/:platform',
  eventType: 'app.changed',
  params: v.object({ platform: PlatformParam }),
  body: v.record(v.string(), v.unknown()),
  response: v.strictObject({
    ok: v.literal(true),
    platform: PlatformToken,
    /** Sentence about the accepted settings. */
    check: v.string(),
  }),
  permissions: ['write', 'stores', 'secrets'],
});
