import { type AppCache, createAppCache } from './apps/app-cache.ts';
import type { AppItemRepository } from './apps/app-item-repository.ts';
import type { AppRepository } from './apps/app-repository.ts';
import { createRejectionLimiter, type RejectionLimiter } from './apps/rejection-limiter.ts';
import type { PriceListRepository } from './checkout/price-list-repository.ts';
import type { CustomerDataRepository } from './customer-data/customer-data-repository.ts';
import type { AccessTokenRepository } from './customers/access-token-repository.ts';
import type { CustomerRepository } from './customers/customer-repository.ts';
import type { VaultReferenceRepository } from './customers/vault-reference-repository.ts';
import { createAccessTokenRepository } from './db/access-token-repository.ts';
import { createAppItemRepository } from './db/app-item-repository.ts';
import { createAppRepository } from './db/app-repository.ts';
import { createCounterRepository } from './db/counter-repository.ts';
import { type CustomerClaimRepository, createCustomerClaimRepository } from './db/customer-claim-repository.ts';
import { createCustomerDataRepository } from './db/customer-data-repository.ts';
import { createCustomerRepository } from './db/customer-repository.ts';
import { createDeliveryRepository } from './db/delivery-repository.ts';
import { createDueItemRepository } from './db/due-item-repository.ts';
import { createErasedNameRepository } from './db/erased-name-repository.ts';
import { createEventRepository } from './db/event-repository.ts';
import { createExchangeRateRepository } from './db/exchange-rate-repository.ts';
import { createHandledNotificationRepository } from './db/handled-notification-repository.ts';
import { createHealthRepository } from './db/health-repository.ts';
import { createOwnedPurchaseRepository } from './db/owned-purchase-repository.ts';
import { createPagedListRepository, type PagedListRepository } from './db/paged-list-repository.ts';
import { createPriceListRepository } from './db/price-list-repository.ts';
import { createPurchaseRepository } from './db/purchase-repository.ts';
import { createRejectionBucketRepository } from './db/rejection-bucket-repository.ts';
import { createStoreActivityRepository, type StoreActivityRepository } from './db/store-activity-repository.ts';
import { createStreamMarkerRepository } from './db/stream-marker-repository.ts';
import { createTableClient, type Table } from './db/table.ts';
import { createTimelineRepository, type TimelineRepository } from './db/timeline-repository.ts';
import { createTransactionRepository } from './db/transaction-repository.ts';
import { createUserAliasRepository } from './db/user-alias-repository.ts';
import { createVaultReferenceRepository } from './db/vault-reference-repository.ts';
import type { EventRepository } from './events/event-repository.ts';
import type { HealthRepository } from './health/health-repository.ts';
import type { ExchangeRates } from './money/attach-usd-rates.ts';
import type { ExchangeRateRepository } from './money/exchange-rates/exchange-rate-repository.ts';
import { createRateCache } from './money/exchange-rates/rate-cache.ts';
import { type ErasedNameRepository, omitErasedNames } from './purchases/erased-names.ts';
import type { OwnedPurchaseRepository } from './purchases/owned-purchase-repository.ts';
import type { PurchaseRepository } from './purchases/purchase-repository.ts';
import { createRecordPurchase, type RecordPurchase } from './purchases/record-purchase.ts';
import type { TransactionRepository } from './purchases/transaction-repository.ts';
import type { UserAliasRepository } from './purchases/user-alias-repository.ts';
import { createMessageQueue } from './queue/message-queue.ts';
import type { DueItemRepository } from './refresh/due-item-repository.ts';
import type { RefreshMessage } from './refresh/refresh-message.ts';
import { type Cipher, createCipher } from './shared/cipher.ts';
import { type AwsClientOptions, awsClientOptions, setConnectionAttemptTimeout } from './shared/connections.ts';
import { ServiceError } from './shared/errors.ts';
import { createLazyMembers } from './shared/lazy-members.ts';
import type { MessageQueue } from './shared/message-queue.ts';
import { once } from './shared/once.ts';
import type { Platform } from './shared/platform.ts';
import type { EpochMillis } from './shared/time.ts';
import type { CounterRepository } from './statistics/counter-repository.ts';
import type { StreamMarkerRepository } from './statistics/stream-marker-repository.ts';
import type { HandledNotificationRepository } from './store-notifications/handled-notification-repository.ts';
import type { QueuedNotification } from './store-notifications/queued-notification.ts';
import { stores } from './stores/index.ts';
import type { Store } from './stores/store.ts';
import type { DeliveryRepository } from './webhooks/delivery-repository.ts';
import type { GuardedPostOptions, PostWebhook } from './webhooks/guarded-post.ts';
import type { WebhookMessage } from './webhooks/webhook-message.ts';

/** Dependencies of handlers. Each one is created when it is first used, once per container. */
export interface Deps {
  now(): EpochMillis;
  readonly table: Table;
  readonly apps: AppRepository;
  readonly appCache: AppCache;
  readonly rejectionLimiter: RejectionLimiter;
  readonly purchases: PurchaseRepository;
  readonly ownedPurchases: OwnedPurchaseRepository;
  readonly recordPurchase: RecordPurchase;
  readonly erasedNames: ErasedNameRepository;
  readonly customerClaims: CustomerClaimRepository;
  readonly customerData: CustomerDataRepository;
  readonly transactions: TransactionRepository;
  readonly storeActivities: StoreActivityRepository;
  readonly timelines: TimelineRepository;
  readonly userAliases: UserAliasRepository;
  readonly events: EventRepository;
  readonly accessTokens: AccessTokenRepository;
  readonly vaultReferences: VaultReferenceRepository;
  readonly priceLists: PriceListRepository;
  readonly counters: CounterRepository;
  readonly appItems: AppItemRepository;
  readonly streamMarkers: StreamMarkerRepository;
  readonly pagedLists: PagedListRepository;
  readonly customers: CustomerRepository;
  readonly handledNotifications: HandledNotificationRepository;
  readonly dailyRates: ExchangeRateRepository;
  readonly exchangeRates: ExchangeRates;
  readonly dueItems: DueItemRepository;
  readonly notificationQueue: MessageQueue<QueuedNotification>;
  readonly refreshQueue: MessageQueue<RefreshMessage>;
  readonly webhookQueue: MessageQueue<WebhookMessage>;
  readonly deliveries: DeliveryRepository;
  readonly health: HealthRepository;
  /** Encrypts stored secrets with the master key. */
  readonly cipher: Cipher;
  /** Posts a webhook to the app's server. */
  readonly postWebhook: PostWebhook;
  /** Loads the adapter of a platform. Throws `InvalidPayload` for a platform without adapter. */
  loadStore(platform: Platform): Promise<Store>;
  /**
   * The store emulator; set in the local runtime only. `roots` are trusted root certificates in DER. `timeFactor`
   * multiplies the time limits of store calls, because the emulator shares a machine with the service and can be slow.
   */
  readonly emulator: { readonly url?: string; readonly roots: readonly Uint8Array[]; readonly timeFactor?: number };
}

setConnectionAttemptTimeout();

/*
 * PROVIDERS
 *
 * A provider creates its dependency when it is first called, once per container. Only this file reads the environment.
 * A function names the providers that it needs, and its bundle contains only their code: see `provideDeps`.
 */

/** The engines of the local runtime share a machine with the service and can be slow. */
const clientOptions = once(() => (process.env.AWS_ENDPOINT_URL_DYNAMODB === undefined ? awsClientOptions : {}));

export const now = once(() => () => Date.now());
const cipher = once(() =>
  createCipher(() => fetchMasterSecret(requireVariable('MASTER_KEY_ID'), clientOptions()), now()),
);
const table = once(() => createTableClient(requireVariable('TABLE_NAME'), clientOptions()));
export const apps = once(() => createAppRepository(table(), cipher()));
export const appCache = once(() => createAppCache(apps(), now()));
export const rejectionLimiter = once(() => createRejectionLimiter(createRejectionBucketRepository(table()), now()));
export const purchases = once(() => createPurchaseRepository(table(), cipher()));
export const ownedPurchases = once(() => createOwnedPurchaseRepository(table()));
const erasedNames = once(() =>
  createErasedNameRepository(table(), cipher(), {
    findApp: appCache().find,
    getOrCreateErasureKey: apps().getOrCreateErasureKey,
  }),
);
export const recordPurchase = once(() =>
  omitErasedNames(
    createRecordPurchase(
      purchases(),
      exchangeRates(),
      appCache().findCatalogue,
      async (appName, username) =>
        await ownedPurchases().listRepresentativePurchases(appName, username, 'subscriptions'),
    ),
    erasedNames(),
  ),
);
export const customerClaims = once(() => createCustomerClaimRepository(table()));
const customerData = once(() => createCustomerDataRepository(table()));
export const transactions = once(() => createTransactionRepository(table()));
export const storeActivities = once(() => createStoreActivityRepository(table()));
export const timelines = once(() => createTimelineRepository(table(), now()));
export const userAliases = once(() => createUserAliasRepository(table()));
/** Throws `InternalError` for an invalid retention: it must stop the service before it loses events. */
export const events = once(() => createEventRepository(table(), parseRetentionDays(process.env), now()));
const accessTokens = once(() => createAccessTokenRepository(table()));
const vaultReferences = once(() => createVaultReferenceRepository(table()));
export const priceLists = once(() => createPriceListRepository(table()));
export const counters = once(() => createCounterRepository(table()));
const appItems = once(() => createAppItemRepository(table()));
export const streamMarkers = once(() => createStreamMarkerRepository(table()));
export const pagedLists = once(() => createPagedListRepository(table(), counters()));
export const customers = once(() => createCustomerRepository(table()));
export const handledNotifications = once(() => createHandledNotificationRepository(table()));
export const dailyRates = once(() => createExchangeRateRepository(table()));
export const exchangeRates = once(() => createRateCache(dailyRates(), now()));
export const dueItems = once(() => createDueItemRepository(table()));
export const notificationQueue = once(() =>
  createMessageQueue<QueuedNotification>(() => requireVariable('NOTIFICATIONS_QUEUE_URL'), clientOptions()),
);
export const refreshQueue = once(() =>
  createMessageQueue<RefreshMessage>(() => requireVariable('REFRESHES_QUEUE_URL'), clientOptions()),
);
export const webhookQueue = once(() =>
  createMessageQueue<WebhookMessage>(() => requireVariable('WEBHOOKS_QUEUE_URL'), clientOptions()),
);
export const deliveries = once(() => createDeliveryRepository(table()));
const health = once(() => createHealthRepository(table()));
export const postWebhook = once(() => {
  const { STORE_EMULATOR_URL: url, WEBHOOK_TIMEOUT_MS: timeoutMs } = process.env;
  return createLazyPostWebhook({ allowsLoopback: Boolean(url), ...(timeoutMs && { timeoutMs: Number(timeoutMs) }) });
});
export const loadStore = once(() => loadStoreAdapter);
export const emulator = once(() => {
  const { STORE_EMULATOR_URL: url, STORE_EMULATOR_ROOT: root, STORE_TIME_FACTOR: factor } = process.env;
  return {
    ...(url && { url }),
    roots: root ? [Buffer.from(root, 'base64')] : [],
    ...(url && factor && { timeFactor: Number(factor) }),
  };
});

/** What `createStoreContext` needs. */
export const storeContextProviders = {
  now,
  emulator,
  appCache,
  table,
  accessTokens,
  vaultReferences,
  purchases,
  transactions,
};

/** What the endpoints of Stripe need. */
export const checkoutProviders = {
  ...storeContextProviders,
  erasedNames,
  exchangeRates,
  ownedPurchases,
  priceLists,
  recordPurchase,
  userAliases,
};

/** The providers that a function needs. */
export type Providers = { readonly [K in keyof Deps]?: () => Deps[K] };

/** The dependencies of a function that names these providers. */
export type ProvidedDeps<P extends Providers> = { readonly [K in keyof P & keyof Deps]: Deps[K] };

/** Returns the dependencies of these providers. Each one is created when it is first read. */
export const provideDeps = <const P extends Providers>(providers: P): ProvidedDeps<P> =>
  createLazyMembers(providers as { readonly [K in keyof ProvidedDeps<P>]: () => ProvidedDeps<P>[K] });

/** Returns all dependencies, for the command line and for tests. */
export const deps = once(
  (): Deps =>
    provideDeps({
      table,
      now,
      cipher,
      apps,
      appCache,
      rejectionLimiter,
      purchases,
      ownedPurchases,
      erasedNames,
      recordPurchase,
      customerClaims,
      customerData,
      transactions,
      storeActivities,
      timelines,
      userAliases,
      events,
      accessTokens,
      vaultReferences,
      priceLists,
      counters,
      appItems,
      streamMarkers,
      pagedLists,
      customers,
      handledNotifications,
      dailyRates,
      exchangeRates,
      dueItems,
      notificationQueue,
      refreshQueue,
      webhookQueue,
      deliveries,
      health,
      postWebhook,
      loadStore,
      emulator,
    }),
);

/** Retention of events, 90 days by default. Throws `InternalError` if the variable is not a number of days. */
function parseRetentionDays({ EVENT_RETENTION_DAYS: days = '90' }: NodeJS.ProcessEnv): number {
  if (/^[1-9]\d{0,4}$/.test(days)) return Number(days);
  throw new ServiceError('InternalError', 'The service is not configured.', {
    cause: 'EVENT_RETENTION_DAYS is not a number of days',
  });
}

async function loadStoreAdapter(platform: Platform): Promise<Store> {
  const load = stores[platform];
  if (!load) throw new ServiceError('InvalidPayload', `Purchases of ${platform} cannot be validated.`);
  return await load();
}

/** Loads the HTTP client with the first webhook, because only one function sends webhooks. */
function createLazyPostWebhook(options: GuardedPostOptions): PostWebhook {
  let loaded: Promise<PostWebhook> | undefined;
  return async (message) => {
    loaded ??= import('./webhooks/guarded-post.ts').then(({ createGuardedPost }) => createGuardedPost(options));
    return await (await loaded)(message);
  };
}

/** Loads the Secrets Manager client when a secret is needed, which most requests do not. */
async function fetchMasterSecret(id: string, clientOptions: AwsClientOptions): Promise<string> {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { SecretString } = await new SecretsManagerClient(clientOptions).send(
    new GetSecretValueCommand({ SecretId: id }),
  );
  if (!SecretString) throw new ServiceError('InternalError', 'The master key is missing.');
  return SecretString;
}

function requireVariable(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new ServiceError('InternalError', 'The service is not configured.', { cause: `${name} is not set` });
  return value;
}
