import type { App } from '../apps/app.ts';
import { findAccount, listEntries } from '../credits/credit-table.ts';
import { toCreditEntryRecord, toCreditRecords } from '../credits/to-records.ts';
import { toCustomerInfo } from '../customers/customer-info.ts';
import { listMerges } from '../customers/merge-table.ts';
import { findVaultReference } from '../customers/vault-reference-table.ts';
import { toGrantRecord } from '../entitlements/grant.ts';
import { listStoredGrants } from '../entitlements/grant-table.ts';
import { splitIntoChunks } from '../foundation/batches.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import { type EpochMillis, toIso, toNullableIso } from '../foundation/time.ts';
import { listComputedNames } from '../purchases/erased-name-table.ts';
import { findPurchases, findRefreshState, findStoredPurchase, listAnnouncements } from '../purchases/purchase-table.ts';
import type { StoredPurchase } from '../purchases/stored-purchase.ts';
import { toNotificationRecord, toPurchaseRecord, toTransactionRecord } from '../purchases/to-records.ts';
import { belongsToOthers } from '../purchases/user-alias-table.ts';
import { normalizeAlias } from '../purchases/user-aliases.ts';
import { findRefundConsent } from '../refunds/refund-request-table.ts';
import type { WebhookDelivery } from '../webhooks/delivery.ts';
import {
  findStoredCustomer,
  listSavedAliases,
  listUnclaimedByAlias,
  type StoredCustomer,
  type StoredEvent,
  scanAccessTokens,
  scanCustomerDeliveries,
  scanCustomerEvents,
  scanLinkedPurchaseIds,
} from './customer-data-table.ts';
import { toExportedEvent } from './to-exported-event.ts';
import { toMergeRecord } from './to-merge-record.ts';

interface ExportOptions {
  /** Receives the number of rows of a section that are exported so far. */
  readonly onProgress?: (section: string, count: number) => void;
  /** Called before the end if the document contains no data of the customer. */
  readonly onEmpty?: () => void;
}

interface ExportContext {
  readonly app: App;
  readonly username: string;
  readonly service: Service;
}

const historyPageSize = 100;

/** Number of purchases that are loaded at once. */
const batchSize = 25;

/**
 * Exports all data of a customer as one JSON document, in chunks of text: the memory does not grow with the number of
 * purchases or events. Without refresh tokens, keys and names of other customers. All dates are ISO 8601 texts.
 */
export async function* exportCustomer(
  service: Service,
  app: App,
  username: string,
  { onProgress, onEmpty }: ExportOptions = {},
): AsyncGenerator<string> {
  const context = { app, username, service };
  const stored = await findStoredCustomer(service, app.name, username);
  const consentedAt = await findRefundConsent(service, app.name, username);
  const head = {
    app: app.name,
    applicationUsername: username,
    exportedAt: toIso(service.now()),
    customer: stored ? toExportedCustomer(stored, service.now()) : null,
    userAliases: await listSavedAliases(service, app.name, username),
    refundConsentedAt: toNullableIso(consentedAt),
  };
  const sections: Readonly<Record<string, AsyncIterable<object[]>>> = {
    purchases: exportPurchases(context),
    unclaimedPurchases: exportUnclaimedPurchases(context),
    grants: exportGrants(context),
    credits: exportCredits(context),
    creditHistory: exportCreditHistory(context),
    merges: exportMerges(context),
    accessTokens: exportAccessTokens(context),
    webhookDeliveries: exportDeliveries(context),
    events: exportEvents(context),
  };
  let isEmpty = !stored && head.userAliases.length === 0 && consentedAt === undefined;
  yield JSON.stringify(head).slice(0, -1);
  for (const [section, batches] of Object.entries(sections)) {
    yield `,${JSON.stringify(section)}:[`;
    let count = 0;
    for await (const rows of batches) {
      if (rows.length > 0) yield `${count > 0 ? ',' : ''}${rows.map((row) => JSON.stringify(row)).join(',\n')}`;
      count += rows.length;
      isEmpty &&= count === 0;
      onProgress?.(section, count);
    }
    yield ']';
  }
  if (isEmpty) onEmpty?.();
  yield '}\n';
}

const toExportedCustomer = ({ createdAt, summary }: StoredCustomer, now: EpochMillis) => ({
  createdAt: toIso(createdAt),
  customerInfo: toCustomerInfo(summary, now),
});

/** Exports the purchases that the customer owns or has claimed, each once. */
async function* exportPurchases(context: ExportContext): AsyncGenerator<object[]> {
  const { app, username, service } = context;
  const visited = new Set<string>();
  for await (const ids of scanLinkedPurchaseIds(service, app.name, username)) {
    const newIds = [...new Set(ids)].filter((id) => !visited.has(id));
    for (const id of newIds) visited.add(id);
    for (const chunk of splitIntoChunks(newIds, batchSize)) {
      const purchases = await Promise.all(chunk.map(async (id) => await exportPurchase(context, id)));
      yield purchases.filter((purchase) => purchase !== undefined);
    }
  }
}

/** Exports the unclaimed purchases that are filed under an alias of the customer and of no other one. */
async function* exportUnclaimedPurchases({ app, username, service }: ExportContext): AsyncGenerator<object[]> {
  const saved = await listSavedAliases(service, app.name, username);
  for (const alias of new Set([...listComputedNames(username), ...saved].map(normalizeAlias))) {
    if (await belongsToOthers(service, app.name, { alias, username })) continue;
    const ids = await listUnclaimedByAlias(service, app.name, alias);
    for (const chunk of splitIntoChunks(ids, batchSize)) {
      const purchases = await findPurchases(service, app.name, chunk);
      yield purchases.map(({ purchase }) => toPurchaseRecord(purchase, service.now()));
    }
  }
}

/** Returns undefined for a purchase that neither entitles the customer nor has a claim of the customer. */
async function exportPurchase(
  { app, username, service }: ExportContext,
  purchaseId: string,
): Promise<object | undefined> {
  const stored = await findStoredPurchase(service, app.name, purchaseId);
  const claim = stored?.claims.find((candidate) => candidate.username === username);
  const isEntitled = stored?.entitledUsers.includes(username);
  if (!stored || (!claim && !isEntitled)) return undefined;
  const notifications = await listAnnouncements(service, app.name, purchaseId);
  const { purchase, transactions, userAliases } = stored.state;
  return {
    ...toPurchaseRecord(purchase, service.now()),
    isEntitled,
    ...(claim && { claim: toExportedClaim(claim) }),
    // An alias of a shared purchase can identify another customer.
    ...(stored.claims.length <= 1 && { userAliases }),
    ...(await exportProcessorCustomer({ app, service, isShared: stored.claims.length > 1 }, purchaseId)),
    createdAt: toIso(stored.createdAt),
    updatedAt: toIso(stored.updatedAt),
    transactions: transactions.map(({ transaction }) => toTransactionRecord(transaction, purchase)),
    notifications: notifications.map(toNotificationRecord),
  };
}

const toExportedClaim = ({ source, firstClaimedAt, lastClaimedAt }: StoredPurchase['claims'][number]) => ({
  source,
  firstClaimedAt: toIso(firstClaimedAt),
  lastClaimedAt: toIso(lastClaimedAt),
});

/** Length of the exported start of a vault reference. The whole reference opens the saved payment methods. */
const referenceLength = 8;

/** Returns the customer at a payment processor. Leaves it out for a shared purchase: it can be the other customer. */
async function exportProcessorCustomer(
  { app, service, isShared }: Pick<ExportContext, 'app' | 'service'> & { readonly isShared: boolean },
  purchaseId: string,
): Promise<{ readonly processorCustomer?: object }> {
  const { refreshToken = {} } = (await findRefreshState(service, app.name, purchaseId)) ?? {};
  const { customer, customerId } = refreshToken;
  const id = customer ?? customerId;
  if (id === undefined || isShared) return {};
  const reference = customerId && (await findVaultReference(service, app.name, customerId));
  return {
    processorCustomer: { id, ...(reference && { vaultReference: `${reference.slice(0, referenceLength)}…` }) },
  };
}

async function* exportGrants({ app, username, service }: ExportContext): AsyncGenerator<object[]> {
  const grants = await listStoredGrants(service, app.name, username);
  yield grants.map((grant) => toGrantRecord(grant, service.now()));
}

async function* exportCredits({ app, username, service }: ExportContext): AsyncGenerator<object[]> {
  for (const isSandbox of [false, true]) {
    const credits = toCreditRecords(await findAccount(service, app.name, { username, isSandbox }), service.now());
    if (Object.keys(credits).length > 0) yield [{ isSandbox, credits }];
  }
}

async function* exportCreditHistory({ app, username, service }: ExportContext): AsyncGenerator<object[]> {
  for (const isSandbox of [false, true]) {
    let cursor: string | undefined;
    do {
      const page = { username, isSandbox, limit: historyPageSize, cursor };
      const { rows, next } = await listEntries(service, app.name, page);
      yield rows.map((entry) => ({ isSandbox, ...toCreditEntryRecord(entry) }));
      cursor = next;
    } while (cursor !== undefined);
  }
}

async function* exportMerges({ app, username, service }: ExportContext): AsyncGenerator<object[]> {
  yield (await listMerges(service, app.name, username)).map(toMergeRecord);
}

async function* exportAccessTokens({ app, username, service }: ExportContext): AsyncGenerator<object[]> {
  for await (const grants of scanAccessTokens(service, app.name, username)) {
    yield grants.map(({ username: _username, expiresAt, ...grant }) => ({ ...grant, expiresAt: toIso(expiresAt) }));
  }
}

async function* exportDeliveries({ app, username, service }: ExportContext): AsyncGenerator<object[]> {
  for await (const deliveries of scanCustomerDeliveries(service, app.name, username)) {
    yield deliveries.map(toExportedDelivery);
  }
}

const toExportedDelivery = ({
  appName: _appName,
  username: _username,
  url,
  notification,
  createdAt,
  nextAttemptAt,
  dueAt: _dueAt,
  ...delivery
}: WebhookDelivery) => ({
  ...delivery,
  // The path and the query of the URL can contain a secret of the app's server.
  server: URL.canParse(url) ? new URL(url).origin : '',
  notification: { ...notification, date: toIso(notification.date) },
  createdAt: toIso(createdAt),
  ...omitUndefined({ nextAttemptAt: nextAttemptAt === undefined ? undefined : toIso(nextAttemptAt) }),
});

async function* exportEvents({ app, username, service }: ExportContext): AsyncGenerator<object[]> {
  for await (const events of scanCustomerEvents(service, app.name, username)) {
    yield events.map((event: StoredEvent) => toExportedEvent(event, username));
  }
}
