import {
  AffectedCustomer,
  AppRecord,
  CataloguePreview,
  CatalogueProduct,
  changeApp,
  createKey,
  EntitlementChange,
  getApp,
  getCatalogue,
  ListedApiKey,
  listKeys,
  revokeKey,
  ServiceInfo,
  StoreConnection,
  setCatalogue,
  setWebhook,
  WebhookSettings,
} from '../app.ts';
import { getCommissionRates, SourcedCommissionRate } from '../commission-rates.ts';
import { describeObject, describeOperation } from '../describe.ts';
import { getVersion } from '../service.ts';
import {
  checkStore,
  listStores,
  StoreFailure,
  StoreFinding,
  StoreRequestCounts,
  StoreStatus,
  setStore,
} from '../stores.ts';

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
  describeObject('CatalogueChange', setCatalogue.response, 'Result of replacing the products of the app.', {
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
  describeObject('CommissionRates', getCommissionRates.response, 'The rates of commission and tax for proceeds.', {
    rates: ['The rates of the app, then the default rates.'],
  }),
  describeObject('StoreFailure', StoreFailure, 'The last request to a store without a usable response.', {
    date: ['Date of the request.', '2026-01-15T09:30:00.000Z'],
    message: ['Why there was no usable response.', 'The request timed out.'],
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
    lastSuccessAt: ['Date of the last usable response of the store.', '2026-01-15T09:30:00.000Z'],
    lastFailure: ['The last request without a usable response. Absent if there was none.'],
    expiredKey: [
      'The last refresh that failed because the StoreID key of a customer has expired. Absent without one in two days.',
    ],
    isFailing: ['Whether there was no usable response since the last failure.', false],
    health: [
      '`unused`: no request and no notification. `failing`: at least half of the requests of the last hour failed, or the latest ones in succession. `degraded`: at least a tenth failed.',
      'ok',
    ],
    lastHour: ['Requests to the store in the last hour.'],
    lastDay: ['Requests to the store in the last 24 hours.'],
  }),
  describeObject('StoreStatusList', listStores.response, 'The connected stores.', {
    appName,
    rows: ['The stores that have settings.'],
  }),
  describeObject('StoreFinding', StoreFinding, 'A finding of the check of the settings.', {
    code: ['Stable code of the finding.', 'keyRejected'],
    severity: ['`error`: the store rejects the settings. `warning`: a part does not work. `note`: a hint.', 'error'],
    problem: ['Description of the problem.', 'The App Store rejects the key.'],
    cure: ['Instruction that corrects it.', 'Create an In-App Purchase key in App Store Connect and set it again.'],
  }),
  describeObject('StoreCheck', checkStore.response, 'Result of the check of the settings of a store.', {
    platform: ['The store.'],
    isConnected: ['Whether the app has settings for the store.', true],
    ok: ['Whether there is no finding of severity `error`.', true],
    summary: [
      'Description of the accepted settings. Absent if it rejects the settings.',
      'The App Store accepts the key.',
    ],
    findings: ['All findings. Empty if there is none.'],
  }),
  describeObject('ApiKey', ListedApiKey, 'An API key of the app. The key itself is not stored.', apiKeyFields),
  describeObject('ApiKeyList', listKeys.response, 'The API keys of the app.', {
    rows: ['All keys, expired ones included.'],
  }),
  describeObject('NewApiKey', createKey.body, 'The API key to create.', {
    level: apiKeyFields.level,
    name: apiKeyFields.name,
    validDays: ['Days until it becomes invalid. Without it, it has no end.', 90],
  }),
  describeObject('CreatedApiKey', createKey.response, 'A new API key.', {
    ok,
    key: ['The key. It is not returned again.', 'view_3q2-7wXKJm0c1Y5bT8fZ9aLrN6hPdQvE4sUoWiGxCyk'],
    ...apiKeyFields,
  }),
  describeObject('RevokedApiKey', revokeKey.response, 'A revoked API key.', { ok, revoked: ['The revoked key.'] }),
  describeObject('AppChange', changeApp.body, 'The settings to change.', {
    strategy,
    unverifiedHours,
    alertUrl: [
      'URL that receives the start and the end of each problem in the format of Slack. Empty switches alerts off.',
      'https://alerts.example.com/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX',
    ],
  }),
  describeObject('ChangedApp', changeApp.response, 'The settings after the change.', {
    ok,
    strategy,
    unverifiedHours,
    alertUrl,
  }),
  describeObject('NewWebhookSettings', setWebhook.body, 'The webhook settings to save.', {
    urls: ['URLs of your server. Empty switches webhooks off.', ['https://api.example.org/purchases']],
    sandboxUrls: ['URLs for sandbox purchases. Empty if `urls` receive them, too.', []],
    includesPassword: ['Whether the body includes the secret key as `password`.', false],
    events: [
      'Webhooks in addition to `purchases.updated`: `refunds`, `consents`, `external-purchases`. Default: the present ones.',
      ['refunds', 'consents'],
    ],
    newSecret: ['Whether to issue a new signing secret. The present one becomes invalid immediately.', false],
  }),
  describeObject('SavedWebhookSettings', setWebhook.response, 'The webhook settings are saved.', {
    ok,
    signingSecret: ['The new signing secret. It is not returned again.', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  }),
  describeObject('SavedStore', setStore.response, 'The settings of a store are saved.', {
    ok,
    platform: ['The store.'],
    check: ['Description of the accepted settings.', 'The App Store accepts the key.'],
  }),
  describeObject('Version', getVersion.response, 'Name and version of the service.', {
    ok: ['The constant true.', true],
    name: ['Name of the service.', 'claimcheck'],
    version: ['Version of the interface.', '3.12.0'],
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
  describeOperation(setStore, {
    description:
      'Checks the settings with a request to the store, and saves them, encrypted, if it accepts them. The service never returns them. The page of each store in the documentation lists its settings.',
    params: { platform: ['The store. Brand tokens such as `apple` are accepted, too.', 'store_a'] },
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
  describeOperation(listStores, {
    description: 'Lists the connected stores, each with its latest notification, response and failure.',
  }),
  describeOperation(checkStore, {
    description: 'Checks the settings of a store with requests to it. Returns what is wrong and how to correct it.',
    params: { platform: ['The store. Brand tokens such as `apple` are accepted, too.', 'store_a'] },
  }),
  describeOperation(getVersion, {
    description: 'Returns the name and the version of the service. Needs no key.',
  }),
];
