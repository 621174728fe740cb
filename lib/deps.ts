import { type CachedApps, cachedApps } from './apps/cached-apps.ts';
import { cipherOf } from './apps/cipher.ts';
import { type AccessTokens, accessTokensOf } from './db/access-tokens.ts';
import { type Aliases, aliasesOf } from './db/aliases.ts';
import { type Apps, appsOf } from './db/apps.ts';
import { type Counters, countersOf } from './db/counters.ts';
import { type Customers, customersOf } from './db/customers.ts';
import { type DayRatesHistory, dayRatesOf } from './db/day-rates.ts';
import { type Deliveries, deliveriesOf } from './db/deliveries.ts';
import { type DueItems, dueItemsOf } from './db/due.ts';
import { type Events, eventsOf } from './db/events.ts';
import { type Lists, listsOf } from './db/lists.ts';
import { type Messages, messagesOf } from './db/messages.ts';
import { type PriceLists, priceListsOf } from './db/price-lists.ts';
import { type Purchases, purchasesOf } from './db/purchases.ts';
import { openTable, type Table } from './db/table.ts';
import { type Transactions, transactionsOf } from './db/transactions.ts';
import { ServiceError } from './errors.ts';
import { cachedRates, type Rates } from './exchange-rates/cached-rates.ts';
import type { IncomingNotification } from './incoming/incoming-notification.ts';
import type { Platform } from './purchases/platform.ts';
import type { Millis } from './purchases/purchase.ts';
import { type Queue, queueOf } from './queue/queue.ts';
import type { RefreshOrder } from './refresh/refresh.ts';
import { stores } from './stores/index.ts';
import type { Store } from './stores/store.ts';
import type { WebhookOrder } from './webhooks/delivery.ts';
import type { Post } from './webhooks/post.ts';

/** What handlers work with. Built once per container, at the first request. */
export interface Deps {
  now(): Millis;
  readonly table: Table;
  readonly apps: Apps;
  readonly cachedApps: CachedApps;
  readonly purchases: Purchases;
  readonly transactions: Transactions;
  readonly aliases: Aliases;
  readonly events: Events;
  readonly accessTokens: AccessTokens;
  readonly priceLists: PriceLists;
  readonly counters: Counters;
  readonly lists: Lists;
  readonly customers: Customers;
  readonly messages: Messages;
  readonly dayRates: DayRatesHistory;
  readonly rates: Rates;
  readonly dueItems: DueItems;
  readonly notificationsQueue: Queue<IncomingNotification>;
  readonly refreshesQueue: Queue<RefreshOrder>;
  readonly webhooksQueue: Queue<WebhookOrder>;
  readonly deliveries: Deliveries;
  /** Posts to an application's server. */
  readonly post: Post;
  /** The adapter of a platform. Throws `InvalidPayload` for one that this service does not sell on. */
  store(platform: Platform): Promise<Store>;
  /** The emulator that stands in for the stores, on one machine only. */
  readonly emulator: { readonly url?: string; readonly roots: readonly Uint8Array[] };
}

let built: Deps | undefined;

/** The dependencies of this container. The only reader of the environment. */
export function deps(): Deps {
  built ??= build(process.env);
  return built;
}

function build(environment: NodeJS.ProcessEnv): Deps {
  const now = () => Date.now();
  const table = openTable(required(environment, 'TABLE_NAME'));
  const cipher = cipherOf(() => fetchMasterSecret(required(environment, 'MASTER_KEY_ID')), now);
  const apps = appsOf(table, cipher);
  const dayRates = dayRatesOf(table);
  const { STORES_URL: url, STORES_ROOT: root } = environment;
  const rates = cachedRates(dayRates, now);
  const counters = countersOf(table);
  return {
    now,
    table,
    apps,
    cachedApps: cachedApps(apps, now),
    purchases: purchasesOf(table, cipher, rates),
    transactions: transactionsOf(table),
    aliases: aliasesOf(table),
    events: eventsOf(table, retentionDays(environment), now),
    accessTokens: accessTokensOf(table),
    priceLists: priceListsOf(table),
    counters,
    lists: listsOf(table, counters),
    customers: customersOf(table),
    messages: messagesOf(table),
    dayRates,
    rates,
    dueItems: dueItemsOf(table),
    notificationsQueue: queueOf(() => required(environment, 'NOTIFICATIONS_QUEUE_URL')),
    refreshesQueue: queueOf(() => required(environment, 'REFRESHES_QUEUE_URL')),
    webhooksQueue: queueOf(() => required(environment, 'WEBHOOKS_QUEUE_URL')),
    deliveries: deliveriesOf(table),
    post: lazyPost({ allowsLoopback: Boolean(url) }),
    store: loadStore,
    emulator: { ...(url && { url }), roots: root ? [Buffer.from(root, 'base64')] : [] },
  };
}

/** How long events are kept; what is no number of days would lose every event, so the service says so and stops. */
function retentionDays({ EVENT_RETENTION_DAYS: days = '90' }: NodeJS.ProcessEnv): number {
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

/** Loaded lazily: only the function that sends webhooks posts. */
function lazyPost(rule: { readonly allowsLoopback: boolean }): Post {
  let loaded: Promise<Post> | undefined;
  return async (message) => {
    loaded ??= import('./webhooks/post.ts').then(({ guardedPost }) => guardedPost(rule));
    return await (await loaded)(message);
  };
}

/** Loaded lazily: only functions that meet a secret pay for the client. */
async function fetchMasterSecret(id: string): Promise<string> {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { SecretString } = await new SecretsManagerClient({}).send(new GetSecretValueCommand({ SecretId: id }));
  if (!SecretString) throw new ServiceError('InternalError', 'The master key is missing.');
  return SecretString;
}

function required(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name];
  if (!value)
    throw new ServiceError('InternalError', 'The service is not configured.', { cause: `${name} is not set` });
  return value;
}
