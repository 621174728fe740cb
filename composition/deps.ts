import { createAccessTokenRepository } from '../lib/db/access-token-repository.ts';
import { createAppItemRepository } from '../lib/db/app-item-repository.ts';
import { createCatalogueAnnouncementRepository } from '../lib/db/catalogue-announcement-repository.ts';
import { createCounterRepository } from '../lib/db/counter-repository.ts';
import { createCustomerClaimRepository } from '../lib/db/customer-claim-repository.ts';
import { createCustomerDataRepository } from '../lib/db/customer-data-repository.ts';
import { createCustomerRepository } from '../lib/db/customer-repository.ts';
import { createDeliveryRepository } from '../lib/db/delivery-repository.ts';
import { createDueItemRepository } from '../lib/db/due-item-repository.ts';
import { createExchangeRateRepository } from '../lib/db/exchange-rate-repository.ts';
import { createExportScheduleRepository } from '../lib/db/export-schedule-repository.ts';
import { createForwardChainRepository } from '../lib/db/forward-chain-repository.ts';
import { createHandledNotificationRepository } from '../lib/db/handled-notification-repository.ts';
import { createHealthRepository } from '../lib/db/health-repository.ts';
import {
  createCustomerListRepository,
  createPurchaseListRepository,
  createTransactionListRepository,
} from '../lib/db/list-repositories.ts';
import { createMergeRepository } from '../lib/db/merge-repository.ts';
import { createOperationRepository } from '../lib/db/operation-repository.ts';
import { createOwnedPurchaseRepository } from '../lib/db/owned-purchase-repository.ts';
import { createPriceListRepository } from '../lib/db/price-list-repository.ts';
import { rebuildPurchaseLinks } from '../lib/db/rebuild-purchase-links.ts';
import { createStoreActivityRepository } from '../lib/db/store-activity-repository.ts';
import { createStreamMarkerRepository } from '../lib/db/stream-marker-repository.ts';
import { createTimelineRepository } from '../lib/db/timeline-repository.ts';
import { createTransactionRepository } from '../lib/db/transaction-repository.ts';
import { createUserAliasRepository } from '../lib/db/user-alias-repository.ts';
import { createVaultReferenceRepository } from '../lib/db/vault-reference-repository.ts';
import { listGrants } from '../lib/entitlements/grant-table.ts';
import { indexes } from '../lib/foundation/keys.ts';
import { createMessageInbox } from '../lib/queue/message-inbox.ts';
import { once } from '../lib/shared/once.ts';
import { getWallTime } from '../lib/shared/override-date.ts';
import type { ReportProgress } from '../lib/shared/progress.ts';
import { loadStore } from '../lib/stores/index.ts';
import { appCache, apps } from './apps.ts';
import { cipher } from './cipher.ts';
import { rejectionLimiter, requestLimiter } from './endpoint.ts';
import { clientOptions, emulator, now, requireVariable } from './environment.ts';
import { events } from './events.ts';
import { openBucketTarget } from './export-targets.ts';
import { pagedLists } from './lists.ts';
import { postWebhook } from './post-webhook.ts';
import { purchases } from './purchases.ts';
import { forwardQueue, notificationQueue, refreshQueue, streamFailures, webhookQueue } from './queues.ts';
import { erasedNames, exchangeRates, recordPurchase } from './record-purchase.ts';
import { service } from './service.ts';
import { table } from './table.ts';

/** All dependencies, for the command line, the measurements and the tests. No function imports this file. */
export const deps = once(() => ({
  getWallTime,
  now,
  loadStore,
  tableIndexes: indexes,
  rebuildPurchaseLinks: async (appName: string, reportProgress?: ReportProgress) =>
    await rebuildPurchaseLinks(table(), appName, reportProgress),
  get table() {
    return table();
  },
  get cipher() {
    return cipher();
  },
  get apps() {
    return apps();
  },
  get appCache() {
    return appCache();
  },
  get rejectionLimiter() {
    return rejectionLimiter();
  },
  get requestLimiter() {
    return requestLimiter();
  },
  get purchases() {
    return purchases();
  },
  get erasedNames() {
    return erasedNames();
  },
  get recordPurchase() {
    return recordPurchase();
  },
  get events() {
    return events();
  },
  get pagedLists() {
    return pagedLists();
  },
  get exchangeRates() {
    return exchangeRates();
  },
  get notificationQueue() {
    return notificationQueue();
  },
  get refreshQueue() {
    return refreshQueue();
  },
  get forwardQueue() {
    return forwardQueue();
  },
  get forwardChains() {
    return createForwardChainRepository(table());
  },
  get webhookQueue() {
    return webhookQueue();
  },
  get streamFailures() {
    return streamFailures();
  },
  get streamFailureInbox() {
    return createMessageInbox(() => requireVariable('STREAM_FAILURES_QUEUE_URL'), clientOptions());
  },
  get postWebhook() {
    return postWebhook();
  },
  get emulator() {
    return emulator();
  },
  get ownedPurchases() {
    return createOwnedPurchaseRepository(table());
  },
  get customerClaims() {
    return createCustomerClaimRepository(table());
  },
  get customerData() {
    return createCustomerDataRepository(table());
  },
  get transactions() {
    return createTransactionRepository(table());
  },
  get storeActivities() {
    return createStoreActivityRepository(table());
  },
  get userAliases() {
    return createUserAliasRepository(table());
  },
  get accessTokens() {
    return createAccessTokenRepository(table());
  },
  get vaultReferences() {
    return createVaultReferenceRepository(table());
  },
  get priceLists() {
    return createPriceListRepository(table());
  },
  get catalogueAnnouncements() {
    return createCatalogueAnnouncementRepository(table());
  },
  get counters() {
    return createCounterRepository(table());
  },
  get appItems() {
    return createAppItemRepository(table());
  },
  get streamMarkers() {
    return createStreamMarkerRepository(table());
  },
  get customers() {
    return createCustomerRepository(table());
  },
  get handledNotifications() {
    return createHandledNotificationRepository(table());
  },
  get dailyRates() {
    return createExchangeRateRepository(table());
  },
  get dueItems() {
    return createDueItemRepository(table());
  },
  get merges() {
    return createMergeRepository(table());
  },
  listGrants: async (appName: string, username: string) => await listGrants(service(), appName, username),
  get deliveries() {
    return createDeliveryRepository(table());
  },
  get health() {
    return createHealthRepository(table());
  },
  get timelines() {
    return createTimelineRepository(table(), now);
  },
  get operations() {
    return createOperationRepository(table(), now);
  },
  get customerLists() {
    return createCustomerListRepository(pagedLists());
  },
  get transactionLists() {
    return createTransactionListRepository(pagedLists());
  },
  openBucketTarget,
  get exportSchedules() {
    return createExportScheduleRepository(table());
  },
  get purchaseLists() {
    return createPurchaseListRepository(pagedLists());
  },
}));

export type Deps = ReturnType<typeof deps>;
