import { findWebhookSender } from '../lib/apps/app-table.ts';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { getCustomer, getCustomerPurchases, getCustomerSubscription } from '../lib/customers/contract.ts';
import { getService } from '../lib/foundation/get-service.ts';
import { getPurchase, listPurchases } from '../lib/purchases/contract.ts';
import { attemptDelivery } from '../lib/webhooks/attempt-delivery.ts';
import { buildDelivery } from '../lib/webhooks/delivery.ts';
import { callWithSecretKey } from './call.ts';

/** The fields of a purchase record on which all responses must agree. */
export interface PurchaseAnswer {
  readonly purchaseId: string;
  readonly transactionId: string;
  readonly productId: string;
  readonly isOwned: boolean;
  readonly isPending: boolean;
  readonly expirationDate: string | undefined;
  readonly cancelationReason: string | undefined;
  readonly renewalIntent: string | undefined;
}

/** The responses about one customer. Each list is sorted by purchase id. */
export interface CustomerAnswers {
  /** `GET /v3/customers/:applicationUsername/purchases`. */
  readonly collection: readonly PurchaseAnswer[];
  /** `purchases` of `GET /v3/customers/:applicationUsername`. */
  readonly details: readonly PurchaseAnswer[];
  readonly customerInfo: { readonly activeSubscriber?: boolean };
  /** `GET /v3/customers/:applicationUsername/subscription`. */
  readonly subscription: PurchaseAnswer | undefined;
  /** `GET /v3/purchases/:purchaseId` of each purchase of the collection. */
  readonly single: readonly PurchaseAnswer[];
  /** Rows of `GET /v3/purchases` whose entitled users include the customer, and of the purchases of the collection. */
  readonly rows: readonly PurchaseAnswer[];
  /** `purchases` of a webhook that is sent now. */
  readonly webhook: readonly PurchaseAnswer[];
}

type PurchaseRecord = Readonly<Record<string, unknown>> & { readonly entitledUsers?: readonly string[] };

/** Reads all responses about the customer, through the real endpoints and the webhook sender. */
export async function readCustomerAnswers(
  keys: IssuedApiKeys,
  applicationUsername: string,
  rows: readonly PurchaseRecord[],
): Promise<CustomerAnswers> {
  const options = { params: { applicationUsername } };
  const [purchases, customer, subscription, webhook] = await Promise.all([
    callWithSecretKey(getCustomerPurchases, keys, options),
    callWithSecretKey(getCustomer, keys, options),
    callWithSecretKey(getCustomerSubscription, keys, options),
    readWebhookBody(keys.appName, applicationUsername),
  ]);
  const collection = toAnswers(purchases.body.purchases);
  const single = await Promise.all(
    collection.map(
      async ({ purchaseId }) => (await callWithSecretKey(getPurchase, keys, { params: { purchaseId } })).body,
    ),
  );
  return {
    collection,
    details: toAnswers(customer.body.purchases),
    customerInfo: customer.body.customerInfo,
    subscription: subscription.body.subscription && toAnswer(subscription.body.subscription),
    single: single.map(toAnswer),
    rows: sortById(
      rows
        .filter(
          ({ purchaseId, entitledUsers }) =>
            entitledUsers?.includes(applicationUsername) ||
            collection.some((answer) => answer.purchaseId === purchaseId),
        )
        .map(toAnswer),
    ),
    webhook: toAnswers(webhook.purchases),
  };
}

/** Returns all rows of `GET /v3/purchases`. */
export async function listPurchaseRows(keys: IssuedApiKeys): Promise<PurchaseRecord[]> {
  const { body } = await callWithSecretKey(listPurchases, keys, { query: { limit: '1000' } });
  return body.rows;
}

const isTrue = (value: unknown): boolean => value === true;

const toAnswer = (record: PurchaseRecord): PurchaseAnswer => ({
  purchaseId: String(record.purchaseId),
  transactionId: String(record.transactionId),
  productId: String(record.productId),
  isOwned: !isTrue(record.isExpired) && !isTrue(record.isPending) && !isTrue(record.isConsumed),
  isPending: isTrue(record.isPending),
  expirationDate: record.expirationDate as string | undefined,
  cancelationReason: record.cancelationReason as string | undefined,
  renewalIntent: record.renewalIntent as string | undefined,
});

const toAnswers = (purchases: Readonly<Record<string, PurchaseRecord>>): PurchaseAnswer[] =>
  sortById(Object.values(purchases).map(toAnswer));

const sortById = (answers: readonly PurchaseAnswer[]): PurchaseAnswer[] =>
  answers.toSorted((a, b) => (a.purchaseId < b.purchaseId ? -1 : 1));

interface WebhookBody {
  readonly purchases: Readonly<Record<string, PurchaseRecord>>;
  readonly entitlements?: Readonly<Record<string, { readonly isActive: boolean }>>;
}

/** Attempts a delivery to the customer and returns the request body. */
export async function readWebhookBody(appName: string, username: string): Promise<WebhookBody> {
  const sender = await findWebhookSender(getService(), appName);
  if (!sender) throw new Error(`${appName} has no webhook URL.`);
  const now = getService().now();
  const notification = { id: `test-${username}-${now}`, reason: 'OTHER' as const, date: now };
  const url = 'https://app.example.com/webhook';
  const delivery = buildDelivery({ appName, type: 'purchases.updated', url, username, notification, createdAt: now });
  let body = '{}';
  await attemptDelivery(
    {
      ...getService(),
      async postWebhook(request) {
        body = request.body;
        return { status: 200, bodyExcerpt: '' };
      },
    },
    delivery,
    sender,
  );
  return JSON.parse(body);
}
