import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { describeObject, describeOperation } from '../api/describe.ts';
import { PlatformToken, ProductType } from '../api/enumerations.ts';
import { Id } from '../api/identifiers.ts';
import { QueryDay } from '../api/paging.ts';
import { DateTime, QueryFlag } from '../api/schemas.ts';
import { namedRecord } from '../foundation/named-record.ts';
import { Platform } from '../foundation/platform.ts';
import { webhookEvents } from '../foundation/webhook-events.ts';

const WebhookUrls = v.array(v.string());

const Strategy = v.picklist(['all', 'first', 'last', 'last-if-inactive']);

/** The level of an API key: what it may call. */
const ApiKeyLevel = v.picklist(['public', 'secret', 'viewer', 'support']);

/** Name and level of an API key. */
export const RequestKey = v.strictObject({
  id: v.string(),
  name: v.string(),
  level: ApiKeyLevel,
});

/** Webhook settings of the app. */
const WebhookSettings = v.strictObject({
  /** Without query, and with long path segments shortened, because they can contain credentials. */
  urls: WebhookUrls,
  sandboxUrls: WebhookUrls,
  /** Whether the body includes the secret key. Every webhook is signed. */
  includesPassword: v.boolean(),
  /** Events other than purchase changes that are switched on. */
  events: v.array(v.picklist(webhookEvents)),
});

/** A product in the catalogue of the app. */
const CatalogueProduct = v.strictObject({
  type: ProductType,
  billingPeriod: v.exactOptional(v.string()),
  group: v.exactOptional(v.string()),
  entitlements: v.exactOptional(v.array(v.string())),
});

const StoreConnection = v.strictObject({
  platform: PlatformToken,
  isConnected: v.boolean(),
  /** URL that the store must call. Absent for a store that does not push notifications. */
  notificationUrl: v.exactOptional(v.string()),
});

const ServiceInfo = v.strictObject({
  version: v.string(),
  /** Control API of the store emulator. Present in the local runtime only, if the app uses the emulator. */
  emulatorUrl: v.exactOptional(v.string()),
});

const AppRecord = v.strictObject({
  appName: v.string(),
  createdAt: DateTime,
  /** The key of this request: a viewer key can only read. */
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
  alertUrl: v.exactOptional(v.string()),
  /** Absent until the operator sets a webhook URL. */
  webhooks: v.exactOptional(WebhookSettings),
  catalogue: v.record(v.string(), CatalogueProduct),
  stores: v.array(StoreConnection),
  service: ServiceInfo,
});

// Spec: not shown. The settings of the app, for the console and other tools.
export const getApp = defineContract({
  id: 'get-app',
  area: 'app',
  summary: 'Get the settings of the app, without secrets, and the key of the request',
  method: 'GET',
  path: '/v3/app',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'app.read',
  response: AppRecord,
  permissions: [],
});

const catalogue = v.record(v.string(), CatalogueProduct);

// Spec: not shown. The products of the app, in the format of the command `app set-catalogue`.
export const getCatalogue = defineContract({
  id: 'get-catalogue',
  area: 'app',
  summary: 'Get the products of the app with their entitlements',
  method: 'GET',
  path: '/v3/catalogue',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'app.read',
  response: catalogue,
  permissions: [],
});

/** A customer whose entitlements a new catalogue would change. */
const AffectedCustomer = v.strictObject({
  applicationUsername: v.string(),
  gains: v.array(v.string()),
  loses: v.array(v.string()),
});

/** Numbers of customers who would gain and lose an entitlement. */
const EntitlementChange = v.strictObject({ gains: v.number(), loses: v.number() });

/** What a new catalogue would change at once. */
export const CataloguePreview = v.strictObject({
  entitlements: v.record(v.string(), EntitlementChange),
  /** The first 100 affected customers. */
  customers: v.array(AffectedCustomer),
  checkedPurchases: v.number(),
  checkedCustomers: v.number(),
  /** Whether all purchases were checked. */
  isComplete: v.boolean(),
});
export type CataloguePreview = v.InferOutput<typeof CataloguePreview>;

const CatalogueChange = v.strictObject({
  ok: v.literal(true),
  products: v.number(),
  /** Present for a dry run, which changes nothing. */
  preview: v.exactOptional(CataloguePreview),
});

// Spec: not shown. Replaces the products of the app.
export const setCatalogue = defineContract({
  id: 'set-catalogue',
  area: 'app',
  summary: 'Replace the products of the app, or preview who would gain and lose entitlements',
  method: 'PUT',
  path: '/v3/catalogue',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'app.changed',
  query: v.object({ dryRun: QueryFlag }),
  body: namedRecord(v.string(), v.unknown()),
  response: CatalogueChange,
  isLongRunning: true,
  permissions: ['write', 'indexes'],
});

/** An API key of the app. The key itself is not stored. */
const ListedApiKey = v.strictObject({
  id: v.string(),
  name: v.string(),
  level: ApiKeyLevel,
  createdAt: v.exactOptional(DateTime),
  expiresAt: v.exactOptional(DateTime),
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
    unverifiedHours: v.exactOptional(v.number()),
    alertUrl: v.exactOptional(v.string()),
  }),
  v.minEntries(1),
);

const ChangedApp = v.strictObject({
  ok: v.literal(true),
  strategy: Strategy,
  unverifiedHours: v.number(),
  alertUrl: v.exactOptional(v.string()),
});

// Spec: not shown. The settings of the commands `app set-strategy`, `app set-unverified-hours` and `app set-alerts`.
export const changeApp = defineContract({
  ...settings,
  id: 'change-app',
  summary: 'Change the entitlement strategy, the hours of access without verification and the URL for alerts',
  method: 'PATCH',
  path: '/v3/app',
  eventType: 'app.changed',
  body: AppChange,
  response: ChangedApp,
  permissions: ['write'],
});

const ApiKeyList = v.strictObject({ rows: v.array(ListedApiKey) });

// Spec: not shown. The command `key list`.
export const listKeys = defineContract({
  ...settings,
  id: 'list-keys',
  summary: 'List the API keys of the app, without the keys themselves',
  method: 'GET',
  path: '/v3/app/keys',
  eventType: 'app.read',
  response: ApiKeyList,
  permissions: [],
});

const NewApiKey = v.object({
  level: ApiKeyLevel,
  name: v.string(),
  validDays: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3_650))),
});

const CreatedApiKey = v.strictObject({ ok: v.literal(true), key: v.string(), ...ListedApiKey.entries });

// Spec: not shown. The command `key create`.
export const createKey = defineContract({
  ...settings,
  id: 'create-key',
  summary: 'Create a named API key, which is returned once',
  method: 'POST',
  path: '/v3/app/keys',
  eventType: 'app.changed',
  body: NewApiKey,
  response: CreatedApiKey,
  permissions: ['write'],
});

const RevokedApiKey = v.strictObject({ ok: v.literal(true), revoked: ListedApiKey });

// Spec: not shown. The command `key revoke`.
export const revokeKey = defineContract({
  ...settings,
  id: 'revoke-key',
  summary: 'Revoke an API key',
  method: 'DELETE',
  path: '/v3/app/keys/:keyId',
  eventType: 'app.changed',
  params: v.object({ keyId: Id }),
  response: RevokedApiKey,
  permissions: ['write', 'secrets'],
});

const NewWebhookSettings = v.object({
  urls: WebhookUrls,
  sandboxUrls: v.optional(WebhookUrls, []),
  includesPassword: v.optional(v.boolean(), false),
  /** Default: the current ones. */
  events: v.exactOptional(v.array(v.picklist(webhookEvents))),
  /** Issues a new signing secret. The current one becomes invalid immediately. */
  newSecret: v.optional(v.boolean(), false),
});

const SavedWebhookSettings = v.strictObject({ ok: v.literal(true), signingSecret: v.exactOptional(v.string()) });

// Spec: not shown. The command `app set-webhook`.
export const setWebhook = defineContract({
  ...settings,
  id: 'set-webhook',
  summary: 'Set the webhook URLs of the app; a new signing secret is returned once',
  method: 'PUT',
  path: '/v3/app/webhooks',
  eventType: 'app.changed',
  body: NewWebhookSettings,
  response: SavedWebhookSettings,
  permissions: ['write', 'secrets'],
});

const Percent = v.pipe(v.number(), v.minValue(0), v.maxValue(100));

/** Part of a price that a store, and the tax that it collects, keep from a day on. */
export const CommissionRate = v.strictObject({
  platform: Platform,
  /** First day of the rate (UTC). */
  from: QueryDay,
  /** Kind of sale. Absent: both. */
  sale: v.exactOptional(v.picklist(['subscription', 'one-time'])),
  /** ISO 3166-1 codes of two letters. Absent: all countries. */
  countries: v.exactOptional(v.array(v.pipe(v.string(), v.regex(/^[A-Z]{2}$/, 'a country code such as DE')))),
  /** Days of paid service that a subscription needs for the rate. Absent: none. */
  minPaidDays: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  /** Commission of the store, in percent of the price. */
  commissionPercent: Percent,
  /** Tax in the price, in percent of the price, for payments whose tax the store does not report. Absent: none. */
  taxPercent: v.exactOptional(Percent),
});
export type CommissionRate = v.InferOutput<typeof CommissionRate>;

/** A rate with its source: set by the app, or a default of the service. */
export const SourcedCommissionRate = v.strictObject({
  source: v.picklist(['app', 'default']),
  ...CommissionRate.entries,
  /** Set for a default rate if the store has announced other terms that are not confirmed. */
  isUnconfirmed: v.exactOptional(v.literal(true)),
});
export type SourcedCommissionRate = v.InferOutput<typeof SourcedCommissionRate>;

const CommissionRates = v.strictObject({ rates: v.array(SourcedCommissionRate) });

// Spec: not shown. The rates with which proceeds are computed if the store does not report them.
export const getCommissionRates = defineContract({
  id: 'get-commission-rates',
  area: 'app',
  summary: 'Get the rates of commission and tax for proceeds, rates of the app first',
  method: 'GET',
  path: '/v3/commission-rates',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'app.read',
  response: CommissionRates,
  permissions: [],
});

const appName = ['Name of the app.', 'demo'] as const;
const notificationUrl = [
  'URL that the store must call. Absent for a store that does not push notifications.',
  'https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/live/v3/notifications/store_a/demo',
] as const;

const commissionRateFields = {
  platform: ['The store.', 'store_a'],
  from: ['First day of the rate (UTC).', '2026-01-01'],
  sale: ['Kind of sale. Both if absent.', 'subscription'],
  countries: ['Countries of the store account (ISO 3166-1, two letters). All if absent.', ['DE', 'FR']],
  minPaidDays: ['Days of paid service that a subscription needs for the rate. None if absent.', 365],
  commissionPercent: ['Commission of the store, in percent of the price.', 15, 'decimal'],
  taxPercent: ['Tax in the price that the store remits, in percent of the price. None if absent.', 19, 'decimal'],
} as const;
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
const apiKeyFields = {
  id: ['Id of the key: the beginning of its SHA-256.', '0f110b8bbde7'],
  name: ['Name of the key, which events contain.', 'alice-support'],
  level: ['What the key may call.', 'viewer'],
  createdAt: ['Date of its creation. Absent for keys of the first releases.', '2026-01-15T09:30:00.000Z'],
  expiresAt: ['Date at which it becomes invalid. Absent without an end.', '2026-04-15T09:30:00.000Z'],
} as const;

export const appDescriptions = [
  describeObject('WebhookSettings', WebhookSettings, 'Webhook settings of the app.', {
    urls: [
      'URLs of your server, without query and with long path segments shortened.',
      ['https://api.example.org/purchases'],
    ],
    sandboxUrls: ['URLs for sandbox purchases. Empty if `urls` receive them, too.', []],
    includesPassword: ['Whether the body includes the secret key as `password`. Every webhook is signed.', false],
    events: ['Webhooks in addition to `purchases.updated` that are switched on.', ['refunds', 'consents']],
  }),
  describeObject('CatalogueProduct', CatalogueProduct, 'A product in the catalogue of the app.', {
    type: ['Type of the product.'],
    billingPeriod: ['ISO 8601 duration between two payments.', 'P1M'],
    group: ['Subscription group.', 'premium-plans'],
    entitlements: ['The entitlements that the product gives.', ['premium']],
  }),
  describeObject('StoreConnection', StoreConnection, 'Connection of the app to a store.', {
    platform: ['The store.'],
    isConnected: ['Whether the app has settings for the store.', true],
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
    stores: ['All stores, connected or not.'],
    service: ['The running service.'],
  }),
  describeObject('AffectedCustomer', AffectedCustomer, 'A customer whose entitlements a new catalogue would change.', {
    applicationUsername: ["The customer's username.", 'alice'],
    gains: ['Entitlements that the customer would gain.', ['premium']],
    loses: ['Entitlements that the customer would lose.', []],
  }),
  describeObject('EntitlementChange', EntitlementChange, 'Customers who would gain and lose an entitlement.', {
    gains: ['Number of customers who would gain it.', 12],
    loses: ['Number of customers who would lose it.', 0],
  }),
  describeObject('CataloguePreview', CataloguePreview, 'What a new catalogue would change.', {
    entitlements: [
      'Number of customers who would gain and lose each entitlement.',
      { premium: { gains: 12, loses: 0 } },
    ],
    customers: ['The first 100 affected customers.'],
    checkedPurchases: ['Number of purchases that were read.', 1200],
    checkedCustomers: ['Number of customers whose entitlements were computed.', 40],
    isComplete: ['Whether all purchases were read. A request reads at most 20,000, and 2,000 customers.', true],
  }),
  describeObject('CatalogueChange', CatalogueChange, 'Result of replacing the products of the app.', {
    ok: ['The constant true.', true],
    products: ['Number of products of the new catalogue.', 6],
    preview: ['What the catalogue would change. Only present for a dry run.'],
  }),
  describeObject('CommissionRate', SourcedCommissionRate, 'A rate of commission and tax, from a day on.', {
    source: ['Whether the app has set the rate, or it is a default of the service.', 'app'],
    ...commissionRateFields,
    isUnconfirmed: [
      'Set if the store has announced other terms that are not confirmed. The rate is the one before.',
      true,
    ],
  }),
  describeObject('CommissionRates', CommissionRates, 'The rates of commission and tax for proceeds.', {
    rates: ['The rates of the app, then the default rates.'],
  }),
  describeObject('ApiKey', ListedApiKey, 'An API key of the app. The key itself is not stored.', apiKeyFields),
  describeObject('ApiKeyList', ApiKeyList, 'The API keys of the app.', {
    rows: ['All keys, expired ones included.'],
  }),
  describeObject('NewApiKey', NewApiKey, 'The API key to create.', {
    level: apiKeyFields.level,
    name: apiKeyFields.name,
    validDays: ['Days until it becomes invalid. Without it, it has no end.', 90],
  }),
  describeObject('CreatedApiKey', CreatedApiKey, 'A new API key.', {
    ok,
    key: ['The key. It is not returned again.', 'view_3q2-7wXKJm0c1Y5bT8fZ9aLrN6hPdQvE4sUoWiGxCyk'],
    ...apiKeyFields,
  }),
  describeObject('RevokedApiKey', RevokedApiKey, 'A revoked API key.', { ok, revoked: ['The revoked key.'] }),
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
  describeObject('NewWebhookSettings', NewWebhookSettings, 'The webhook settings to save.', {
    urls: ['URLs of your server. Empty switches webhooks off.', ['https://api.example.org/purchases']],
    sandboxUrls: ['URLs for sandbox purchases. Empty if `urls` receive them, too.', []],
    includesPassword: ['Whether the body includes the secret key as `password`.', false],
    events: [
      'Webhooks in addition to `purchases.updated`: `refunds`, `consents`, `external-purchases`. Default: the present ones.',
      ['refunds', 'consents'],
    ],
    newSecret: ['Whether to issue a new signing secret. The present one becomes invalid immediately.', false],
  }),
  describeObject('SavedWebhookSettings', SavedWebhookSettings, 'The webhook settings are saved.', {
    ok,
    signingSecret: ['The new signing secret. It is not returned again.', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  }),
  describeObject('RequestKey', RequestKey, 'The API key of a request. The key itself is never returned.', {
    id: ['Id of the key.', 'k_7d2f'],
    name: ['Name that the operator gave the key.', 'server'],
    level: ['Level of the key.', 'secret'],
  }),
];

export const appOperations = [
  describeOperation(changeApp, {
    description: 'Changes the passed settings of the app. They take effect within 15 seconds.',
  }),
  describeOperation(listKeys, { description: 'Lists the API keys of the app. A key itself is not stored.' }),
  describeOperation(createKey, {
    description: 'Creates a named API key. The key is in this response only.',
  }),
  describeOperation(revokeKey, {
    description: 'Revokes an API key. It is rejected within 15 seconds. The secret key that webhooks contain is kept.',
    params: { keyId: ['Id of the key, from `GET /v3/app/keys`.', '0f110b8bbde7'] },
  }),
  describeOperation(setWebhook, {
    description:
      'Replaces the webhook URLs of the app. An empty list switches webhooks off. A new signing secret is in this response only.',
  }),
  describeOperation(getApp, { description: 'Returns the settings of the app of the key, without secrets.' }),
  describeOperation(getCatalogue, {
    description:
      'Returns the products of the app, by product id with or without platform prefix, in the format of the command `app set-catalogue`. The header `ETag` identifies this version.',
  }),
  describeOperation(setCatalogue, {
    description:
      'Replaces the products of the app. With the header `If-Match` and the `ETag` of `GET /v3/catalogue`, a catalogue that was changed since is not overwritten (412). Takes effect within 15 seconds for all customers. A dry run changes nothing and returns who would gain and lose entitlements.',
    query: { dryRun: ['Whether to preview the change only.', true] },
    bodyExamples: {
      products: {
        summary: 'Two products that give one entitlement',
        value: {
          'store_a:premium_monthly': { type: 'paid subscription', entitlements: ['premium'] },
          premium_forever: { type: 'non consumable', entitlements: ['premium'] },
        },
      },
    },
  }),
  describeOperation(getCommissionRates, {
    description:
      'Returns the rates with which the proceeds of a payment are computed if the store does not report them. A rate of the app takes precedence over the default rates. If several rates apply, the one with the most conditions takes precedence, then the latest one.',
  }),
];
