import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation } from '../api/describe.ts';
import { DateTime, OptionalNumber, OptionalText, PlatformToken, QueryFlag, webhookEvents } from '../api/schemas.ts';
import { RequestKey } from './api-key-contract.ts';
import { CatalogueProduct } from './catalogue-contract.ts';

const WebhookUrls = v.array(v.string());

const Strategy = v.picklist(['all', 'first', 'last', 'last-if-inactive']);

/** Webhook settings of the app. */
const WebhookSettings = v.strictObject({
  /** Without query, and with long path segments shortened, because they can contain credentials. */
  urls: WebhookUrls,
  sandboxUrls: WebhookUrls,
  /** Adds the secret key to the body. Every webhook is signed. */
  includesPassword: v.boolean(),
  /** Events other than purchase changes that are switched on. */
  events: v.array(v.picklist(webhookEvents)),
});

const StoreConnection = v.strictObject({
  platform: PlatformToken,
  isConnected: v.boolean(),
  /** URL that the store must call. Absent for a store that does not push notifications. */
  notificationUrl: OptionalText,
});

const ServiceInfo = v.strictObject({
  version: v.string(),
  /** Control API of the store emulator. Present in the local runtime only, if the app uses the emulator. */
  emulatorUrl: OptionalText,
});

const AppRecord = v.strictObject({
  appName: v.string(),
  createdAt: DateTime,
  /** A viewer key can only read. */
  key: RequestKey,
  strategy: Strategy,
  /** Which purchases of the stores' sandboxes give entitlements. */
  sandboxEntitlements: v.picklist(['all', 'listed', 'none']),
  /** The customers whose sandbox purchases give entitlements, if they are listed. */
  sandboxUsers: v.exactOptional(v.array(v.string())),
  /** Validity of an entitlement token in minutes. */
  tokenMinutes: v.number(),
  vocabulary: v.picklist(['neutral', 'brand']),
  /** Hours of access after the expiration date while the renewal of a subscription cannot be verified. */
  unverifiedHours: v.number(),
  /** URL that receives alerts, without query and with long path segments shortened. Absent without alerts. */
  alertUrl: OptionalText,
  /** Absent until the operator sets a webhook URL. */
  webhooks: v.exactOptional(WebhookSettings),
  catalogue: v.record(v.string(), CatalogueProduct),
  /** The products that have figures. Present with `include_products`. */
  productIds: v.exactOptional(v.array(v.string())),
  stores: v.array(StoreConnection),
  service: ServiceInfo,
});

// Spec: not shown. The settings of the app, for the console and other tools.
export const getApp = defineContract({
  id: 'get-app',
  area: 'app',
  summary: 'Get the settings of the app, and the key of the request',
  method: 'GET',
  path: '/v3/app',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'app.read',
  query: v.object({ include_products: QueryFlag }),
  response: AppRecord,
  permissions: [],
});

const settings = {
  area: 'app',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
} as const;

const AppChange = v.pipe(
  v.strictObject({
    strategy: v.exactOptional(Strategy),
    unverifiedHours: OptionalNumber,
    alertUrl: OptionalText,
  }),
  v.minEntries(1),
);

const ChangedApp = v.strictObject({
  ok: v.literal(true),
  strategy: Strategy,
  unverifiedHours: v.number(),
  alertUrl: OptionalText,
});

// Spec: not shown. The settings of the commands `app set-strategy`, `app set-unverified-hours` and `app set-alerts`.
export const changeApp = defineContract({
  ...settings,
  id: 'change-app',
  summary: 'Change settings of the app',
  method: 'PATCH',
  path: '/v3/app',
  eventType: 'app.changed',
  body: AppChange,
  response: ChangedApp,
  permissions: ['write'],
});

const TestedAlert = v.strictObject({ ok: v.literal(true) });

// Spec: not shown.
export const testAlert = defineContract({
  ...settings,
  id: 'test-alert',
  summary: 'Send a test alert to the URL for alerts',
  method: 'POST',
  path: '/v3/app/alerts/test',
  eventType: 'alert.tested',
  response: TestedAlert,
  permissions: ['write'],
  writes: [],
});

const NewWebhookSettings = v.object({
  /** Only optional with `rotateSecret`, which leaves the settings unchanged then. */
  urls: v.exactOptional(WebhookUrls),
  sandboxUrls: v.optional(WebhookUrls, []),
  includesPassword: v.optional(v.boolean(), false),
  /** Default: the current ones. */
  events: v.exactOptional(v.array(v.picklist(webhookEvents))),
  /** Issues a new signing secret. The current one becomes invalid immediately. */
  newSecret: v.optional(v.boolean(), false),
  /** Issues a new signing secret. Webhooks have signatures of both for `overlapHours`. */
  rotateSecret: v.optional(v.boolean(), false),
  overlapHours: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(720)), 24),
});

const SavedWebhookSettings = v.strictObject({ ok: v.literal(true), signingSecret: OptionalText });

// Spec: not shown. The command `app set-webhook`.
export const setWebhook = defineContract({
  ...settings,
  id: 'set-webhook',
  summary: 'Set the webhook URLs, or rotate the signing secret',
  method: 'PUT',
  path: '/v3/app/webhooks',
  eventType: 'app.changed',
  body: NewWebhookSettings,
  response: SavedWebhookSettings,
  permissions: ['write', 'secrets'],
});

const appName = ['Name of the app.', 'demo'] as const;
const notificationUrl = [
  'URL that the store must call. Absent for a store that does not push notifications.',
  'https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/live/v3/notifications/store_a/demo',
] as const;
const strategy = [
  'Strategy that resolves several claims on a purchase. Existing purchases change at their next update.',
  'last',
] as const;
const alertUrl = [
  'URL that receives alerts, without query and with long path segments shortened. Absent without alerts.',
  'https://alerts.example.com/T000/B000/…',
] as const;
const unverifiedHours = ['Hours of access after a renewal that cannot be verified, at most 168.', 24] as const;
const ok = ['The constant true.', true] as const;

const descriptions = [
  describeObject('WebhookSettings', WebhookSettings, 'Webhook settings of the app.', {
    urls: [
      'URLs of your server, without query and with long path segments shortened.',
      ['https://api.example.org/purchases'],
    ],
    sandboxUrls: ['URLs for sandbox purchases. Empty if `urls` receive them, too.', []],
    includesPassword: ['The body includes the secret key as `password`. Every webhook is signed.', false],
    events: ['Webhooks in addition to `purchases.updated` that are switched on.', ['refunds', 'consents']],
  }),
  describeObject('StoreConnection', StoreConnection, 'Connection of the app to a store.', {
    platform: ['The store.'],
    isConnected: ['The app has settings for the store.', true],
    notificationUrl,
  }),
  describeObject('ServiceInfo', ServiceInfo, 'The running service.', {
    version: ['Version of the interface.', '3.12.0'],
    emulatorUrl: [
      'Control API of the store emulator. Only present in the local runtime, for an app that does not use the real stores.',
      'http://127.0.0.1:4001/control',
    ],
  }),
  describeObject('App', AppRecord, 'Settings of the app, without secrets.', {
    appName,
    createdAt: ['Date at which the app was created.', '2026-01-01T08:00:00.000Z'],
    key: ['The key of this request.'],
    strategy: [
      'Strategy that resolves several claims on a purchase: all, the first or the last claimant owns it, or the last one who claimed it while it gave the owner no access.',
      'all',
    ],
    alertUrl,
    sandboxEntitlements: [
      "Which purchases of the stores' sandboxes give entitlements: all, none, or the purchases of `sandboxUsers`.",
      'all',
    ],
    sandboxUsers: ['The customers whose sandbox purchases give entitlements. Present if they are listed.', ['tester']],
    tokenMinutes: ['Validity of an entitlement token in minutes.', 60],
    vocabulary: ['Whether ids and platforms have neutral or brand tokens.', 'neutral'],
    unverifiedHours: [
      'Hours of access after the expiration date while the renewal of a subscription cannot be verified.',
      24,
    ],
    webhooks: ['Webhook settings. Absent until the operator sets a webhook URL.'],
    catalogue: ['Products by product id with platform prefix.', { 'store_a:premium': { type: 'paid subscription' } }],
    productIds: [
      'Products that have figures, by platform and id. Only present with `include_products=true`.',
      ['store_a:premium'],
    ],
    stores: ['All stores, connected or not.'],
    service: ['The running service.'],
  }),
  describeObject('AppChange', AppChange, 'The settings to change.', {
    strategy,
    unverifiedHours,
    alertUrl: [
      'URL that receives the start and the end of each problem in the format of Slack. Empty switches alerts off.',
      'https://alerts.example.com/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX',
    ],
  }),
  describeObject('ChangedApp', ChangedApp, 'The settings after the change.', {
    ok,
    strategy,
    unverifiedHours,
    alertUrl,
  }),
  describeObject('TestedAlert', TestedAlert, 'The server has accepted the test alert.', { ok }),
  describeObject('NewWebhookSettings', NewWebhookSettings, 'The webhook settings to save.', {
    urls: [
      'URLs of your server. Empty switches webhooks off. Required without `rotateSecret`.',
      ['https://api.example.org/purchases'],
    ],
    sandboxUrls: ['URLs for sandbox purchases. Empty if `urls` receive them, too.', []],
    includesPassword: ['The body includes the secret key as `password`.', false],
    events: [
      'Webhooks in addition to `purchases.updated`: `refunds`, `consents`, `external-purchases`. Default: the current ones.',
      ['refunds', 'consents'],
    ],
    newSecret: ['Issue a new signing secret. The current one becomes invalid immediately.', false],
    rotateSecret: [
      'Issue a new signing secret. Webhooks have a signature of each one for `overlapHours`. Without `urls`, the other settings stay.',
      true,
    ],
    overlapHours: [
      'Hours in which webhooks have a signature of the replaced secret, too, at most 720. Default: 24.',
      24,
    ],
  }),
  describeObject('SavedWebhookSettings', SavedWebhookSettings, 'The webhook settings are saved.', {
    ok,
    signingSecret: ['The new signing secret. It is not returned again.', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  }),
];

const operations = [
  describeOperation(changeApp, {
    description: 'Changes the passed settings of the app. They take effect within 15 seconds.',
  }),
  describeOperation(testAlert, {
    description: 'Sends a test alert, and returns an error if the server does not accept it.',
  }),
  describeOperation(setWebhook, {
    description:
      'Replaces the webhook URLs of the app. An empty list switches webhooks off. A new signing secret is in this response only.',
  }),
  describeOperation(getApp, {
    description: 'Returns the settings of the app of the key, without secrets.',
    query: { include_products: ['`true` adds the products that have figures.', 'true'] },
  }),
];

export const appApi: ApiPart = { descriptions, operations };
