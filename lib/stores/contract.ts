import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation } from '../api/describe.ts';
import { DateTime, OptionalDateTime, OptionalText, PlatformParam, PlatformToken, QueryFlag } from '../api/schemas.ts';

// Spec: not shown. The connection of the app to its stores, for the console.
const common = { area: 'stores', keyLevel: 'secret', errorFormat: 'default', aliases: [] } as const;

/** The last request to a store without a usable response. */
const StoreFailure = v.strictObject({ date: DateTime, message: v.string() });

/** A time without notifications that is unusual for the store. */
const StoreSilence = v.strictObject({ since: DateTime, usualHours: v.number() });

const StoreRequestCounts = v.strictObject({ numRequests: v.number(), numFailures: v.number() });

/** State of the connection to a store. */
export const StoreStatus = v.strictObject({
  platform: PlatformToken,
  /** Absent for a store that does not push notifications. */
  notificationUrl: OptionalText,
  lastNotificationAt: OptionalDateTime,
  /** Present if the last notification is twice as old as the longest usual time between two, by the last four weeks. */
  silence: v.exactOptional(StoreSilence),
  /** Last usable response of the store. */
  lastSuccessAt: OptionalDateTime,
  /** Last request without a usable response. */
  lastFailure: v.exactOptional(StoreFailure),
  /**
   * Last refresh that failed because the StoreID key of a customer has expired. Present for two days: a purchase
   * without a valid key is refreshed daily.
   */
  expiredKey: v.exactOptional(StoreFailure),
  /** The store has not given a usable response since the last failure. */
  isFailing: v.boolean(),
  /**
   * `unused`: no request and no notification. `failing`: the store rejects the settings, or at least half of the
   * requests of the last hour failed, or the latest ones in succession. `degraded`: at least a tenth of them failed.
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

const StoreStatusList = v.strictObject({
  appName: v.string(),
  /** Stores with settings. Times can be one minute old. */
  rows: v.array(StoreStatus),
});

export const listStores = defineContract({
  ...common,
  id: 'list-stores',
  summary: 'List the connected stores with their latest activity',
  method: 'GET',
  path: '/v3/stores',
  eventType: 'stores.read',
  response: StoreStatusList,
  permissions: [],
});

/** A finding of the check of the settings of a store. */
const StoreFinding = v.strictObject({
  code: v.string(),
  severity: v.picklist(['error', 'warning', 'note']),
  problem: v.string(),
  cure: v.string(),
});

const StoreCheck = v.strictObject({
  platform: PlatformToken,
  isConnected: v.boolean(),
  /** All findings are less severe than `error`. */
  ok: v.boolean(),
  /** What the store has accepted. Absent if it rejects the settings. */
  summary: OptionalText,
  findings: v.array(StoreFinding),
});

export const checkStore = defineContract({
  ...common,
  id: 'check-store',
  summary: 'Check the settings of a store',
  method: 'POST',
  path: '/v3/stores/:platform/check',
  eventType: 'store.checked',
  params: v.object({ platform: PlatformParam }),
  response: StoreCheck,
  permissions: ['write', 'stores'],
  writes: [],
});

const SavedStore = v.strictObject({
  ok: v.literal(true),
  platform: PlatformToken,
  /** Sentence about the accepted settings. */
  check: v.string(),
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
  query: v.object({ merge: QueryFlag }),
  body: v.record(v.string(), v.unknown()),
  response: SavedStore,
  permissions: ['write', 'stores', 'secrets'],
});

const StoreSetting = v.strictObject({
  name: v.string(),
  kind: v.picklist(['text', 'number', 'boolean', 'choice', 'json']),
  isRequired: v.boolean(),
  isSecret: v.boolean(),
  isSet: v.boolean(),
  choices: v.exactOptional(v.array(v.string())),
  /** Absent for a secret. */
  value: v.exactOptional(v.unknown()),
});

const StoreSettings = v.strictObject({ platform: PlatformToken, fields: v.array(StoreSetting) });

export const getStoreSettings = defineContract({
  ...common,
  id: 'get-store-settings',
  summary: 'Get the settings of a store without secrets, as fields of a form',
  method: 'GET',
  path: '/v3/stores/:platform/settings',
  eventType: 'app.read',
  params: v.object({ platform: PlatformParam }),
  response: StoreSettings,
  permissions: ['secrets'],
});

const appName = ['Name of the app.', 'demo'] as const;
const notificationUrl = [
  'URL that the store must call. Absent for a store that does not push notifications.',
  'https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/live/v3/notifications/store_a/demo',
] as const;

const ok = ['The constant true.', true] as const;
const platformParam = { platform: ['The store. Brand tokens such as `apple` are accepted, too.', 'store_a'] } as const;

const descriptions = [
  describeObject('StoreFailure', StoreFailure, 'The last request to a store without a usable response.', {
    date: ['Date of the request.', '2026-01-15T09:30:00.000Z'],
    message: ['Why there was no usable response.', 'The request timed out.'],
  }),
  describeObject('StoreSilence', StoreSilence, 'A time without notifications that is unusual for the store.', {
    since: ['Date of the last notification.', '2026-01-15T09:30:00.000Z'],
    usualHours: ['Longest usual time between two notifications, by the last four weeks.', 24],
  }),
  describeObject(
    'StoreRequestCounts',
    StoreRequestCounts,
    'Requests to a store in 24 hours. Requests of the last minute can be missing.',
    {
      numRequests: ['Number of requests.', 1204],
      numFailures: ['Number of requests without a usable response.', 3],
    },
  ),
  describeObject('StoreStatus', StoreStatus, 'State of the connection to a store. Times can be one minute old.', {
    platform: ['The store.'],
    notificationUrl,
    lastNotificationAt: ['Date of the last store notification. Absent if there was none.', '2026-01-15T09:30:00.000Z'],
    silence: [
      'Present if the last notification is twice as old as the longest usual time between two. The store must have sent notifications on 8 of the last 28 days.',
    ],
    lastSuccessAt: ['Date of the last usable response of the store.', '2026-01-15T09:30:00.000Z'],
    lastFailure: ['The last request without a usable response. Absent if there was none.'],
    expiredKey: [
      'The last refresh that failed because the StoreID key of a customer has expired. Absent without one in two days.',
    ],
    isFailing: ['There was no usable response since the last failure.', false],
    health: [
      '`unused`: no request and no notification. `failing`: the store rejects the settings, or at least half of the requests of the last hour failed, or the latest ones in succession. `degraded`: at least a tenth failed.',
      'ok',
    ],
    lastHour: [
      'Requests to the store in the last hour, at least: requests after the first one of a minute are added with the next request.',
    ],
    lastDay: ['Requests to the store in the last 24 hours, at least.'],
  }),
  describeObject('StoreStatusList', StoreStatusList, 'The connected stores.', {
    appName,
    rows: ['The stores that have settings.'],
  }),
  describeObject('StoreFinding', StoreFinding, 'A finding of the check of the settings.', {
    code: ['Stable code of the finding.', 'keyRejected'],
    severity: ['`error`: the store rejects the settings. `warning`: a part does not work. `note`: a hint.', 'error'],
    problem: ['Description of the problem.', 'The App Store rejects the key.'],
    cure: ['Instruction that corrects it.', 'Create an In-App Purchase key in App Store Connect and set it again.'],
  }),
  describeObject('StoreCheck', StoreCheck, 'Result of the check of the settings of a store.', {
    platform: ['The store.'],
    isConnected: ['The app has settings for the store.', true],
    ok: ['There is no finding of severity `error`.', true],
    summary: [
      'Description of the accepted settings. Absent if it rejects the settings.',
      'The App Store accepts the key.',
    ],
    findings: ['All findings. Empty if there is none.'],
  }),
  describeObject('StoreSetting', StoreSetting, 'A setting of a store.', {
    name: ['Name of the setting.', 'bundleId'],
    kind: ['Kind of the value.', 'text'],
    isRequired: ['The setting is required.', true],
    isSecret: ['Responses never contain the value.', false],
    isSet: ['A value is stored.', true],
    choices: ['The possible values of a `choice`.', ['production', 'sandbox']],
    value: ['The stored value. Absent for a secret.', 'com.example.app'],
  }),
  describeObject('StoreSettings', StoreSettings, 'The settings of a store.', {
    platform: ['The store.'],
    fields: ['All settings that the store has.'],
  }),
  describeObject('SavedStore', SavedStore, 'The settings of a store are saved.', {
    ok,
    platform: ['The store.'],
    check: ['Description of the accepted settings.', 'The App Store accepts the key.'],
  }),
];

const operations = [
  describeOperation(setStore, {
    description:
      'Checks the settings with a request to the store, and saves them, encrypted, if it accepts them. The service never returns secrets. The page of each store in the documentation lists its settings.',
    params: platformParam,
    query: {
      merge: ['Absent settings keep their stored values, and null removes a setting. Default: false.', true],
    },
    bodyExamples: {
      store_a: {
        summary: 'Settings of the App Store',
        value: {
          bundleId: 'com.example.app',
          issuerId: '57246542-96fe-1a63-e053-0824d011072a',
          keyId: '2X9R4HXF34',
          privateKey: '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----',
        },
      },
    },
  }),
  describeOperation(getStoreSettings, {
    description: 'Returns each setting of a store with its kind, and with its stored value unless it is secret.',
    params: platformParam,
  }),
  describeOperation(listStores, {
    description: 'Lists the connected stores, each with its latest notification, response and failure.',
  }),
  describeOperation(checkStore, {
    description: 'Checks the settings of a store with requests to it. Returns what is wrong and how to correct it.',
    params: platformParam,
  }),
];

export const storeApi: ApiPart = { descriptions, operations };
