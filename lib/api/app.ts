import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { ProductType } from './enumerations.ts';
import { RequestKey } from './event-records.ts';
import { PlatformToken } from './purchase-records.ts';
import { DateTime } from './schemas.ts';

const WebhookUrls = v.array(v.string());

/** Webhook settings of the app. */
export const WebhookSettings = v.strictObject({
  /** Without query, and with long path segments shortened, because they can contain credentials. */
  urls: WebhookUrls,
  sandboxUrls: WebhookUrls,
  /** Whether the body includes the secret key. Every webhook is signed. */
  includesPassword: v.boolean(),
});

/** A product in the catalogue of the app. */
export const CatalogueProduct = v.strictObject({
  type: ProductType,
  billingPeriod: v.exactOptional(v.string()),
  group: v.exactOptional(v.string()),
});

export const StoreConnection = v.strictObject({
  platform: PlatformToken,
  /** Whether the app has settings for the store. */
  isConnected: v.boolean(),
  /** URL that the store must call. Absent for a store that does not push notifications. */
  notificationUrl: v.exactOptional(v.string()),
});

export const ServiceInfo = v.strictObject({
  version: v.string(),
  /** Control API of the store emulator. Present in the local runtime only. */
  emulatorUrl: v.exactOptional(v.string()),
});

export const AppRecord = v.strictObject({
  appName: v.string(),
  createdAt: DateTime,
  /** The key of this request: a viewer key can only read. */
  key: RequestKey,
  strategy: v.picklist(['all', 'first', 'last']),
  vocabulary: v.picklist(['neutral', 'brand']),
  /** Hours of access after the expiration date while the renewal of a subscription cannot be verified. */
  unverifiedHours: v.number(),
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
