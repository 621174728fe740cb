import type { WebhookEvent } from '../api/schemas.ts';
import type { App } from '../apps/app.ts';
import { toShortDigest } from '../foundation/key.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { Purchase } from '../purchases/purchase.ts';
import { findPurchases, listPurchaseIdsByStoreAccount } from '../purchases/purchase-table.ts';
import type { StoreRequest } from '../stores/store-request-contract.ts';
import { createDeliveryIfAbsent } from './delivery-table.ts';
import { buildForUrls } from './select-webhook-urls.ts';

/** The purchases of the store account that a request names, and the customers who own them. */
interface RequestSubjects {
  readonly purchases: readonly Purchase[];
  readonly usernames: readonly string[];
}

/** Maximum number of purchases of a store account that are searched for its customers. */
const maxPurchases = 100;

const eventsByType: Readonly<Record<StoreRequest['type'], WebhookEvent>> = {
  'consent.rescinded': 'consents',
  'external-purchase.token': 'external-purchases',
};

/**
 * Creates a webhook for each customer that a store's request concerns, or one without a customer, if the app has
 * switched them on. They are due immediately. Idempotent: a repeated notification creates no others.
 */
export async function announceStoreRequest(
  service: Service,
  app: App,
  { request, key, date }: { readonly request: StoreRequest; readonly key: string; readonly date: EpochMillis },
): Promise<RequestSubjects> {
  const subjects = await findSubjects(service, app.name, request);
  if (!app.webhookSettings?.events?.includes(eventsByType[request.type])) return subjects;
  const recipients = subjects.usernames.length > 0 ? subjects.usernames : [undefined];
  const notification = { id: toShortDigest(`${app.name}\n${key}`), reason: 'OTHER', date } as const;
  const now = service.now();
  const deliveries = recipients.flatMap((username) =>
    buildForUrls(app, request.isSandbox, {
      type: request.type,
      ...omitUndefined({ username }),
      notification,
      storeRequest: request,
      createdAt: now,
    }),
  );
  for (const delivery of deliveries) await createDeliveryIfAbsent(service, { ...delivery, dueAt: now });
  return subjects;
}

async function findSubjects(service: Service, appName: string, request: StoreRequest): Promise<RequestSubjects> {
  if (request.type !== 'consent.rescinded') return { purchases: [], usernames: [] };
  const ids = await listPurchaseIdsByStoreAccount(service, appName, request.appTransactionId, maxPurchases);
  const stored = await findPurchases(service, appName, ids);
  return {
    purchases: stored.map(({ purchase }) => purchase),
    usernames: [...new Set(stored.flatMap(({ entitledUsers }) => entitledUsers))].sort(),
  };
}
