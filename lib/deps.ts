import { type AppCache, createAppCache } from './apps/app-cache.ts';
import { createRejectionLimiter, type RejectionLimiter } from './apps/rejection-limiter.ts';
import { type AccessTokenRepository, createAccessTokenRepository } from './db/access-token-repository.ts';
import { type AppItemRepository, createAppItemRepository } from './db/app-item-repository.ts';
import { type AppRepository, createAppRepository } from './db/app-repository.ts';
import { type CounterRepository, createCounterRepository } from './db/counter-repository.ts';
import { type CustomerRepository, createCustomerRepository } from './db/customer-repository.ts';
import { createDeliveryRepository, type DeliveryRepository } from './db/delivery-repository.ts';
import { createDueItemRepository, type DueItemRepository } from './db/due-item-repository.ts';
import { createEventRepository, type EventRepository } from './db/event-repository.ts';
import { createExchangeRateRepository, type ExchangeRateRepository } from './db/exchange-rate-repository.ts';
import {
  createHandledNotificationRepository,
  type HandledNotificationRepository,
} from './db/handled-notification-repository.ts';
import { createOwnedPurchaseRepository, type OwnedPurchaseRepository } from './db/owned-purchase-repository.ts';
import { createPagedListRepository, type PagedListRepository } from './db/paged-list-repository.ts';
import { createPriceListRepository, type PriceListRepository } from './db/price-list-repository.ts';
import { createPurchaseRepository } from './db/purchase-repository.ts';
import { createRejectionBucketRepository } from './db/rejection-bucket-repository.ts';
import { createStreamMarkerRepository, type StreamMarkerRepository } from './db/stream-marker-repository.ts';
import { createTableClient, type Table } from './db/table.ts';
import { createTransactionRepository, type TransactionRepository } from './db/transaction-repository.ts';
import { createUserAliasRepository, type UserAliasRepository } from './db/user-alias-repository.ts';
import { createVaultReferenceRepository, type VaultReferenceRepository } from './db/vault-reference-repository.ts';
import type { ExchangeRates } from './money/attach-usd-rates.ts';
import { createRateCache } from './money/exchange-rates/rate-cache.ts';
import type { PurchaseRepository } from './purchases/purchase-repository.ts';
import { createRecordPurchase, type RecordPurchase } from './purchases/record-purchase.ts';
import { createMessageQueue, type MessageQueue } from './queue/message-queue.ts';
import type { RefreshMessage } from './refresh/refresh-message.ts';
import { createCipher } from './shared/cipher.ts';
import { type AwsClientOptions, awsClientOptions, setConnectionAttemptTimeout } from './shared/connections.ts';
import { ServiceError } from './shared/errors.ts';
import { createLazyMembers } from './shared/lazy-members.ts';
import type { Platform } from './shared/platform.ts';
import type { EpochMillis } from './shared/time.ts';
import type { QueuedNotification } from './store-notifications/queued-notification.ts';
import { stores } from './stores/index.ts';
import type { Store } from './stores/store.ts';
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
  readonly transactions: TransactionRepository;
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
  /** Posts a webhook to the app's server. */
  readonly postWebhook: PostWebhook;
  /** Loads the adapter of a platform. Throws `InvalidPayload` for a platform without adapter. */
  loadStore(platform: Platform): Promise<Store>;
  /** The store emulator; set in the local runtime only. `roots` are trusted root certificates in DER. */
  readonly emulator: { readonly url?: string; readonly roots: readonly Uint8Array[] };
}

let instance: Deps | undefined;

/** Returns the dependencies of this container. Only this file reads the environment. */
export function deps(): Deps {
  instance ??= createDeps(process.env);
  return instance;
}

function createDeps(environment: NodeJS.ProcessEnv): Deps {
  setConnectionAttemptTimeout();
  // The engines of the local runtime share a machine with the service and can be slow.
  const clientOptions = environment.AWS_ENDPOINT_URL_DYNAMODB === undefined ? awsClientOptions : {};
  const now = () => Date.now();
  const cipher = createCipher(
    () => fetchMasterSecret(requireVariable(environment, 'MASTER_KEY_ID'), clientOptions),
    now,
  );
  // Set in the local runtime only.
  const { STORE_EMULATOR_URL: url, STORE_EMULATOR_ROOT: root, WEBHOOK_TIMEOUT_MS: timeoutMs } = environment;
  // Parsed first: an invalid retention must stop the service before it loses events.
  const retentionDays = parseRetentionDays(environment);
  const members: Deps = createLazyMembers<Deps>({
    now: () => now,
    table: () => createTableClient(requireVariable(environment, 'TABLE_NAME'), clientOptions),
    apps: () => createAppRepository(members.table, cipher),
    appCache: () => createAppCache(members.apps, now),
    rejectionLimiter: () => createRejectionLimiter(createRejectionBucketRepository(members.table), now),
    purchases: () => createPurchaseRepository(members.table, cipher),
    recordPurchase: () =>
      createRecordPurchase(
        members.purchases,
        members.exchangeRates,
        members.appCache.findCatalogue,
        async (appName, username) =>
          await members.ownedPurchases.listDecidingPurchases(appName, username, 'subscriptions'),
      ),
    ownedPurchases: () => createOwnedPurchaseRepository(members.table),
    transactions: () => createTransactionRepository(members.table),
    userAliases: () => createUserAliasRepository(members.table),
    events: () => createEventRepository(members.table, retentionDays, now),
    accessTokens: () => createAccessTokenRepository(members.table),
    vaultReferences: () => createVaultReferenceRepository(members.table),
    priceLists: () => createPriceListRepository(members.table),
    counters: () => createCounterRepository(members.table),
    appItems: () => createAppItemRepository(members.table),
    streamMarkers: () => createStreamMarkerRepository(members.table),
    pagedLists: () => createPagedListRepository(members.table, members.counters),
    customers: () => createCustomerRepository(members.table),
    handledNotifications: () => createHandledNotificationRepository(members.table),
    dailyRates: () => createExchangeRateRepository(members.table),
    exchangeRates: () => createRateCache(members.dailyRates, now),
    dueItems: () => createDueItemRepository(members.table),
    notificationQueue: () =>
      createMessageQueue(() => requireVariable(environment, 'NOTIFICATIONS_QUEUE_URL'), clientOptions),
    refreshQueue: () => createMessageQueue(() => requireVariable(environment, 'REFRESHES_QUEUE_URL'), clientOptions),
    webhookQueue: () => createMessageQueue(() => requireVariable(environment, 'WEBHOOKS_QUEUE_URL'), clientOptions),
    deliveries: () => createDeliveryRepository(members.table),
    postWebhook: () =>
      createLazyPostWebhook({ allowsLoopback: Boolean(url), ...(timeoutMs && { timeoutMs: Number(timeoutMs) }) }),
    loadStore: () => loadStore,
    emulator: () => ({ ...(url && { url }), roots: root ? [Buffer.from(root, 'base64')] : [] }),
  });
  return members;
}

/** Retention of events, 90 days by default. Throws `InternalError` if the variable is not a number of days. */
function parseRetentionDays({ EVENT_RETENTION_DAYS: days = '90' }: NodeJS.ProcessEnv): number {
  if (/^[1-9]\d{0,4}$/.test(days)) return Number(days);
  throw new ServiceError('InternalError', 'The service is not configured.', {
    cause: 'EVENT_RETENTION_DAYS is not a number of days',
  });
}

async function loadStore(platform: Platform): Promise<Store> {
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

function requireVariable(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name];
  if (!value)
    throw new ServiceError('InternalError', 'The service is not configured.', { cause: `${name} is not set` });
  return value;
}
