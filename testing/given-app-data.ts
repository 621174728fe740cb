import { saveAnnotation } from '../lib/annotations/annotation-table.ts';
import type { Contract } from '../lib/api/contract.ts';
import { storeCatalogue } from '../lib/apps/catalogue-table.ts';
import { createApiKey, type IssuedApiKeys, setCommissionRates } from '../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../lib/apps/store-settings-table.ts';
import { contracts } from '../lib/contracts/index.ts';
import { give } from '../lib/credits/change-credits.ts';
import { addGrant } from '../lib/entitlements/manage-grants.ts';
import { createEventRecorder } from '../lib/events/event-recorder.ts';
import { saveEvent } from '../lib/events/event-table.ts';
import { storeForwards } from '../lib/forwards/forward-table.ts';
import { getService } from '../lib/foundation/get-service.ts';
import { creditEntryKey, eventKey, toPaymentDigest, toRefundRequestId } from '../lib/foundation/keys.ts';
import { dayMs } from '../lib/foundation/time.ts';
import { savePriceList } from '../lib/purchases/price-list-table.ts';
import type { Purchase } from '../lib/purchases/purchase.ts';
import { createRefundRequest } from '../lib/refunds/refund-request-table.ts';
import type { StoreRefundRequest } from '../lib/stores/refund-request.ts';
import type { WebhookDelivery } from '../lib/webhooks/delivery.ts';
import { createDeliveryIfAbsent, replaceDelivery } from '../lib/webhooks/delivery-table.ts';
import { buildBasicAuth, type CallOptions, type CallResult, callEndpoint } from './call.ts';
import { createObservation, createTransaction } from './given.ts';
import { aggregateItems, aggregatePartitions, givenPurchase } from './given-purchase.ts';

/** An app with data for every GET endpoint. */
export interface AppWithData {
  readonly keys: IssuedApiKeys;
  /** Part of every text that the app can choose. */
  readonly canary: string;
  readonly dollars: number;
  readonly payments: number;
}

const now = Date.now();
const sharedIds = { applicationUsername: 'ann', id: 'event-1', reqId: 'request-1', tag: 'ann' };

/** Records data with the same ids for each app, which must be connected to Stripe. */
export async function givenAppData(side: AppWithData): Promise<void> {
  const { keys, canary } = side;
  for (const username of ['ann', canary]) await givenPurchase(keys.appName, username, createSubscription(side));
  await givenPurchase(
    keys.appName,
    'ann',
    createSubscription(side, { purchaseId: 'processor_a:sub_1', platform: 'processor_a' }),
  );
  await givenPurchase(keys.appName, 'ann', createSubscription(side, { purchaseId: `store_a:${canary}` }));
  await givenEvent(side, sharedIds.id);
  await givenEvent(side, `event-${canary}`);
  await givenDelivery(side, sharedIds.id);
  await givenDelivery(side, `event-${canary}`);
  await givenRefundRequest(side);
  await storeCatalogue(getService(), keys.appName, {
    'store_a:monthly': { type: 'paid subscription', entitlements: [`premium-${canary}`] },
  });
  // Too many days for any purchase, so that the rate applies to none.
  await setCommissionRates(getService(), keys.appName, [
    { platform: 'store_a', from: '2026-01-01', minPaidDays: side.dollars, commissionPercent: 15 },
  ]);
  await createApiKey(getService(), keys.appName, { level: 'viewer', name: canary, now: Date.now() });
  await saveAnnotation(getService(), keys.appName, { date: '2026-01-15', text: `Release of ${canary}` });
  const settings = { tenantId: 'tenant', clientId: canary, clientSecret: 'secret' };
  await setStoreSettings(getService(), keys.appName, 'store_c', settings);
  await storeForwards(getService(), keys.appName, [{ url: `https://${canary}.example.com/stores` }]);
  const grant = { entitlement: `premium-${canary}`, reason: canary, idempotencyKey: 'grant-1' };
  await addGrant(getService(), grant, {
    appName: keys.appName,
    username: 'ann',
    key: { id: canary, name: canary },
  });
  const gift = { credit: 'coins', amount: side.dollars, idempotencyKey: 'gift', reason: canary };
  const account = { appName: keys.appName, username: 'ann', isSandbox: false, key: { id: canary, name: canary } };
  const { entryId } = await give(getService(), gift, account);
  const entry = await getService().table.get(creditEntryKey(keys.appName, 'ann', 'P', entryId));
  await aggregateItems(entry ? [entry] : []);
  const list = [{ type: 'consumable', id: 'coins', title: canary, platform: 'processor_a', offers: [] }];
  await savePriceList(getService(), { appName: keys.appName, platform: 'processor_a', fetchedAt: now }, list);
}

function createSubscription({ canary, dollars, payments }: AppWithData, state: Partial<Purchase> = {}) {
  const { purchase, ...observation } = createObservation({
    purchaseDate: now,
    expirationDate: now + 30 * dayMs,
    discountId: canary,
    ...state,
  });
  // Only one purchase has an amount, so that the expected sums are simple.
  const isPaid = purchase.purchaseId === 'store_a:1';
  const transactions = Array.from({ length: isPaid ? payments : 1 }, (_, number) =>
    createTransaction(purchase, {
      transactionId: `${purchase.purchaseId}-${number}`,
      offerId: `${purchase.productId}#${canary}`,
      amountMicros: isPaid ? dollars * 1_000_000 : 0,
    }),
  );
  return { ...observation, purchase, transactions, refreshToken: { originalTransactionId: canary } };
}

/** Records a refund request with the same id for each app. */
async function givenRefundRequest({ keys, canary }: AppWithData): Promise<void> {
  const request: StoreRefundRequest = {
    platform: 'store_a',
    purchaseId: 'store_a:1',
    transactionId: 'store_a:1-0',
    sandbox: false,
    reason: canary,
    requestedAt: now,
    deadline: now + dayMs,
    reference: { transactionId: '1-0' },
  };
  await createRefundRequest(getService(), keys.appName, request, undefined);
}

async function givenDelivery({ keys, canary }: AppWithData, deliveryId: string): Promise<void> {
  const notification = { id: sharedIds.reqId, reason: 'RENEWED', date: now, productId: canary } as const;
  const delivery: WebhookDelivery = {
    appName: keys.appName,
    deliveryId,
    type: 'purchases.updated',
    url: 'https://example.com',
    username: 'ann',
    notification,
    state: 'pending',
    failedAttempts: 0,
    createdAt: now,
  };
  await createDeliveryIfAbsent(getService(), delivery);
  const dead = { ...delivery, state: 'dead', failedAttempts: 1, failureReason: canary } as const;
  await replaceDelivery(getService(), delivery, dead, now);
}

async function givenEvent({ keys, canary }: AppWithData, eventId: string): Promise<void> {
  const recorder = createEventRecorder({ type: 'receipt.validated', date: now, reqId: sharedIds.reqId, eventId });
  recorder.setUser(sharedIds.applicationUsername);
  recorder.addTag('store_a:1', '_P');
  recorder.addTag('store_a:1-0', '_T');
  recorder.addTag('store_a:monthly', '_I');
  recorder.addTag('ann-token', 'AT');
  recorder.addContent({ products: [{ id: canary }], purchases: [{ purchaseId: 'store_a:1', productId: canary }] });
  const { event, raw } = recorder.finish({
    request: { method: 'POST', route: '/v1/validate', body: { id: canary, type: 'consumable' } },
    outcome: { status: 200, ok: false },
    error: { code: 'InvalidPayload', status: 400, message: canary },
    response: { ok: false, message: canary },
  });
  await saveEvent(getService(), keys.appName, event, raw);
  await aggregatePartitions([eventKey(keys.appName, eventId).pk]);
}

type RequestOptions = Pick<CallOptions, 'params' | 'query'>;

const since = { startdate: new Date(now - dayMs).toISOString() };
const today = new Date(now).toISOString().slice(0, 10);
const customer = { params: sharedIds };
const event = { params: sharedIds };
const withReceipts = { query: { receipts: 'true' } };
const purchase = { params: { purchaseId: 'store_a:1' } };
const tags = ['ann', 'request-1', 'error', 'store_a:1', 'store_a:1-0', 'store_a:monthly', 'ann-token', 'apple:1'];

const byEntitlement = { query: { by: 'entitlement' } };
const figureRequests = [{}, ...['platform', 'product', 'country', 'entitlement'].map((by) => ({ query: { by } }))];

/** Requests by contract id, for ids that both apps have. Other contracts get one request. */
const dataRequests: Readonly<Record<string, (app: AppWithData) => readonly RequestOptions[]>> = {
  'list-customers': () => [{}, { query: { applicationUsername: 'ann' } }, { query: { skip: '1' } }],
  'list-purchases': () => [{}, { query: since }, { query: { include_notifications: 'true', limit: '1' } }],
  'get-purchase': () => [purchase, { ...purchase, query: { include_notifications: 'true' } }],
  'list-transactions': () => [{}, { query: since }, { query: { include_notifications: 'true', skip: '1' } }],
  'get-transaction': () => [{ params: { transactionId: 'store_a:1-0' } }],
  'get-stats': () => [
    {},
    { query: { startdate: today, include_notifications: 'true' } },
    { query: { currency: 'usd' } },
  ],
  'get-revenue': () => figureRequests,
  'get-credit-stats': () => [{}, { query: { startdate: today } }],
  'get-mrr': () => figureRequests,
  'get-churn': () => [byEntitlement],
  'get-retention': () => figureRequests,
  'get-ltv': () => figureRequests,
  'get-conversion': () => [byEntitlement],
  'get-stats-breakdown': () => [{}, { query: { by: 'platform' } }, { query: { by: 'product', interval: 'range' } }],
  'get-stats-v2': () => [{}, { query: { startdate: today } }],
  'get-app-stats': ({ keys }) => [{ params: { appName: keys.appName } }],
  'list-events': () => [{}, { query: { ...since, limit: '1000' } }],
  'search-events': () => tags.map((tag) => ({ params: { tag } })),
  'get-event': () => [event, { ...event, ...withReceipts }],
  'get-event-analysis': () => [event, { ...event, ...withReceipts }],
  'list-deliveries': () => [{}, { query: { state: 'dead' } }],
  'get-webhook-stats': () => [{}, { query: since }],
  'get-customer-claims': () => [customer, { ...customer, query: { isEntitled: 'true' } }],
  'list-purchase-actions': ({ canary }) => [{ params: { purchaseId: `store_a:${canary}` } }],
  'list-refund-requests': () => [{}, { query: { state: 'open' } }],
  'get-refund-request': () => [
    { params: { id: toRefundRequestId({ digest: toPaymentDigest('store_a:1-0'), number: '0001' }) } },
  ],
  search: () => ['store_a:1', '1', 'store_a:1-0'].map((q) => ({ query: { q } })),
  'explain-access': ({ canary }) => [
    { ...customer, query: { entitlement: `premium-${canary}` } },
    { ...customer, query: { productId: 'store_a:monthly' } },
  ],
  'get-store-settings': () => [{ params: { platform: 'store_c' } }],
  'get-processor-purchases': () => [{ query: { applicationUsername: 'ann' } }],
};

export const listDataRequests = ({ id }: Contract, app: AppWithData): readonly RequestOptions[] =>
  dataRequests[id]?.(app) ?? [{ params: { ...sharedIds, purchaseId: 'store_a:1' } }];

/** The GET contracts that require a key. */
export const readContracts: readonly Contract[] = contracts.filter(
  ({ method, keyLevel }) => method === 'GET' && keyLevel !== 'none',
);

/** Calls the path of the contract and its aliases with a key. */
export async function callAllPaths(
  contract: Contract,
  { appName, key }: { readonly appName: string; readonly key: string },
  { params = {}, query }: RequestOptions = {},
): Promise<CallResult[]> {
  const headers = buildBasicAuth(appName, key);
  const responses: CallResult[] = [];
  for (const template of [contract.path, ...contract.aliases]) {
    const path = template.replace(/:(\w+)/g, (_all, param: string) => encodeURIComponent(params[param] ?? ''));
    responses.push(await callEndpoint(contract, { headers, path, ...(query && { query }) }));
  }
  return responses;
}
