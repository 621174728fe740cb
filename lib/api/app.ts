import * as v from 'valibot';
import { namedRecord } from '../foundation/named-record.ts';
import { webhookEvents } from '../foundation/webhook-events.ts';
import { defineContract } from './contract.ts';
import { ProductType } from './enumerations.ts';
import { RequestKey } from './event-records.ts';
import { Id } from './identifiers.ts';
import { PlatformToken } from './purchase-records.ts';
import { DateTime, QueryFlag } from './schemas.ts';

const WebhookUrls = v.array(v.string());

const Strategy = v.picklist(['all', 'first', 'last', 'last-if-inactive']);

/** The level of an API key: what it may call. */
const ApiKeyLevel = v.picklist(['public', 'secret', 'viewer', 'support']);

/** Webhook settings of the app. */
export const WebhookSettings = v.strictObject({
  /** Without query, and with long path segments shortened, because they can contain credentials. */
  urls: WebhookUrls,
  sandboxUrls: WebhookUrls,
  /** Whether the body includes the secret key. Every webhook is signed. */
  includesPassword: v.boolean(),
  /** Events other than purchase changes that are switched on. */
  events: v.array(v.picklist(webhookEvents)),
});

/** A product in the catalogue of the app. */
export const CatalogueProduct = v.strictObject({
  type: ProductType,
  billingPeriod: v.exactOptional(v.string()),
  group: v.exactOptional(v.string()),
  entitlements: v.exactOptional(v.array(v.string())),
});

export const StoreConnection = v.strictObject({
  platform: PlatformToken,
  isConnected: v.boolean(),
  /** URL that the store must call. Absent for a store that does not push notifications. */
  notificationUrl: v.exactOptional(v.string()),
});

export const ServiceInfo = v.strictObject({
  version: v.string(),
  /** Control API of the store emulator. Present in the local runtime only, if the app uses the emulator. */
  emulatorUrl: v.exactOptional(v.string()),
});

export const AppRecord = v.strictObject({
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
export const AffectedCustomer = v.strictObject({
  applicationUsername: v.string(),
  gains: v.array(v.string()),
  loses: v.array(v.string()),
});

/** Numbers of customers who would gain and lose an entitlement. */
export const EntitlementChange = v.strictObject({ gains: v.number(), loses: v.number() });

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
  response: v.strictObject({
    ok: v.literal(true),
    products: v.number(),
    /** Present for a dry run, which changes nothing. */
    preview: v.exactOptional(CataloguePreview),
  }),
  isLongRunning: true,
  permissions: ['write', 'indexes'],
});

/** An API key of the app. The key itself is not stored. */
export const ListedApiKey = v.strictObject({
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

// Spec: not shown. The settings of the commands `app set-strategy`, `app set-unverified-hours` and `app set-alerts`.
export const changeApp = defineContract({
  ...settings,
  id: 'change-app',
  summary: 'Change the entitlement strategy, the hours of access without verification and the URL for alerts',
  method: 'PATCH',
  path: '/v3/app',
  eventType: 'app.changed',
  body: v.pipe(
    v.strictObject({
      strategy: v.exactOptional(Strategy),
      unverifiedHours: v.exactOptional(v.number()),
      alertUrl: v.exactOptional(v.string()),
    }),
    v.minEntries(1),
  ),
  response: v.strictObject({
    ok: v.literal(true),
    strategy: Strategy,
    unverifiedHours: v.number(),
    alertUrl: v.exactOptional(v.string()),
  }),
  permissions: ['write'],
});

// Spec: not shown. The command `key list`.
export const listKeys = defineContract({
  ...settings,
  id: 'list-keys',
  summary: 'List the API keys of the app, without the keys themselves',
  method: 'GET',
  path: '/v3/app/keys',
  eventType: 'app.read',
  response: v.strictObject({ rows: v.array(ListedApiKey) }),
  permissions: [],
});

// Spec: not shown. The command `key create`.
export const createKey = defineContract({
  ...settings,
  id: 'create-key',
  summary: 'Create a named API key, which is returned once',
  method: 'POST',
  path: '/v3/app/keys',
  eventType: 'app.changed',
  body: v.object({
    level: ApiKeyLevel,
    name: v.string(),
    validDays: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3_650))),
  }),
  response: v.strictObject({ ok: v.literal(true), key: v.string(), ...ListedApiKey.entries }),
  permissions: ['write'],
});

// Spec: not shown. The command `key revoke`.
export const revokeKey = defineContract({
  ...settings,
  id: 'revoke-key',
  summary: 'Revoke an API key',
  method: 'DELETE',
  path: '/v3/app/keys/:keyId',
  eventType: 'app.changed',
  params: v.object({ keyId: Id }),
  response: v.strictObject({ ok: v.literal(true), revoked: ListedApiKey }),
  permissions: ['write', 'secrets'],
});

// Spec: not shown. The command `app set-webhook`.
export const setWebhook = defineContract({
  ...settings,
  id: 'set-webhook',
  summary: 'Set the webhook URLs of the app; a new signing secret is returned once',
  method: 'PUT',
  path: '/v3/app/webhooks',
  eventType: 'app.changed',
  body: v.object({
    urls: WebhookUrls,
    sandboxUrls: v.optional(WebhookUrls, []),
    includesPassword: v.optional(v.boolean(), false),
    /** Default: the current ones. */
    events: v.exactOptional(v.array(v.picklist(webhookEvents))),
    /** Issues a new signing secret. The current one becomes invalid immediately. */
    newSecret: v.optional(v.boolean(), false),
  }),
  response: v.strictObject({ ok: v.literal(true), signingSecret: v.exactOptional(v.string()) }),
  permissions: ['write', 'secrets'],
});
