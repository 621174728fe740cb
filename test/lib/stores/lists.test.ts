import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';
import { startEmulatorClient } from '../../../emulator/test/emulator-client.ts';
import type { Platform } from '../../../lib/foundation/platform.ts';
import { dayMs } from '../../../lib/foundation/time.ts';
import type { Observation } from '../../../lib/purchases/observation.ts';
import { listSubscriptions } from '../../../lib/stores/google-play/push-subscriptions.ts';
import { parseStoredSettings } from '../../../lib/stores/google-play/settings.ts';
import { loadStore } from '../../../lib/stores/index.ts';
import { createRecordedFetch } from '../../../lib/stores/recorded-fetch.ts';
import type { StoreContext } from '../../../lib/stores/store-context.ts';
import { startBeforeAll } from '../../../testing/start-before-all.ts';
import { stoppedStopwatch } from '../../../testing/stopwatch.ts';

/**
 * The lists that the adapters read, by how each is complete: the file, and the member or the call.
 *
 * - `pages`: the store cuts it, or returns pages. A test below reads it in parts.
 * - `whole`: the store documents neither pages nor a limit, or its limit fits in one response.
 * - `first`: only its first element is needed.
 * - `latest`: the store cuts it, and an older payment does without its element.
 * - `own`: a type for other schemas, or a list of the settings or of a refresh token.
 */
const lists = {
  pages: [
    'app-store/payloads.ts notificationHistory',
    'app-store/payloads.ts signedTransactions',
    'braintree/payloads.ts transactions',
    'google-play/payloads.ts voidedPurchases',
    'google-play/push-subscriptions.ts subscriptions',
    'microsoft-store/collections.ts items',
    'microsoft-store/recurrences.ts items',
    'stripe/complete-lists.ts stripe.checkout.sessions.listLineItems',
    'stripe/complete-lists.ts stripe.invoicePayments.list',
    'stripe/complete-lists.ts stripe.invoices.listLineItems',
    'stripe/complete-lists.ts stripe.refunds.list',
    'stripe/complete-lists.ts stripe.subscriptionItems.list',
    'stripe/payloads.ts items',
    'stripe/payloads.ts line_items',
    'stripe/payloads.ts lines',
    'stripe/payloads.ts payments',
    'stripe/payloads.ts refunds',
    'stripe/perform-action.ts Payments',
    'stripe/perform-action.ts stripe.invoicePayments.list',
    'stripe/stripe-queries.ts ',
    'stripe/stripe-queries.ts listed',
    'stripe/stripe-queries.ts products',
    'stripe/stripe-queries.ts stripe.charges.list',
    'stripe/stripe-queries.ts stripe.checkout.sessions.list',
    'stripe/stripe-queries.ts stripe.creditNotes.list',
    'stripe/stripe-queries.ts stripe.disputes.list',
    'stripe/stripe-queries.ts stripe.invoicePayments.list',
    'stripe/stripe-queries.ts stripe.invoices.list',
    'stripe/stripe-queries.ts stripe.products.list',
    'stripe/stripe-queries.ts stripe.subscriptions.list',
  ],
  whole: [
    'app-store/classic-receipt.ts in_app',
    // Three certificates.
    'app-store/jws.ts x5c',
    'app-store/payloads.ts data',
    'app-store/payloads.ts items',
    'app-store/payloads.ts lastTransactions',
    'app-store/payloads.ts priceTiers',
    'app-store/payloads.ts refunds',
    'app-store/request-test-notification.ts sendAttempts',
    'app-store/verify-receipt.ts TransactionList',
    'app-store/verify-receipt.ts pending_renewal_info',
    'braintree/check-settings.ts Plans',
    'braintree/decline.ts ValidationErrors',
    'braintree/payloads.ts StatusHistory',
    'braintree/payloads.ts addOns',
    'braintree/payloads.ts discounts',
    'braintree/payloads.ts disputes',
    'braintree/payloads.ts paymentMethods',
    'braintree/payloads.ts refundIds',
    'google-play/api-errors.ts errors',
    'google-play/push-token.ts keys',
    'google-play/payloads.ts lineItems',
    'google-play/payloads.ts orders',
    'google-play/payloads.ts partialRefundEvents',
    'google-play/payloads.ts productLineItem',
    'google-play/payloads.ts purchaseOptions',
    'google-play/perform-action.ts itemExpiryTimeDetails',
    'microsoft-store/fulfill.ts orderTransactions',
    'microsoft-store/payloads.ts satisfiedByProductIds',
    'stripe/payloads.ts Amounts',
    'stripe/payloads.ts Discounts',
    'stripe/payloads.ts balance_transactions',
    'stripe/payloads.ts discounts',
    'stripe/payloads.ts phases',
    'stripe/payloads.ts pretax_credit_amounts',
    'stripe/payloads.ts taxes',
    'stripe/test-notifications.ts stripe.webhookEndpoints.list',
  ],
  first: ['charges', 'checkout.sessions', 'coupons', 'disputes', 'invoicePayments', 'invoices', 'paymentIntents']
    .concat(['prices', 'products', 'refunds', 'subscriptions'])
    .map((resource) => `stripe/check-settings.ts stripe.${resource}.list`),
  // At most 50 entries.
  // https://developer.paypal.com/braintree/graphql/reference/types/recurring-billing-subscription
  latest: ['braintree/payloads.ts statusHistory'],
  own: [
    'app-store/settings.ts offers',
    'braintree/payloads.ts lenientArray',
    'braintree/refresh.ts items',
    'stripe/lenient-schemas.ts data',
    'stripe/lenient-schemas.ts lenientArray',
    'stripe/settings.ts webhookSecrets',
  ],
};

const brands = ['app-store', 'braintree', 'google-play', 'microsoft-store', 'stripe'] as const;
const schemas = new Set(['v.array', 'lenientArray', 'lenientList', 'listSchema']);

interface Node {
  readonly type?: string;
  readonly value?: unknown;
  readonly [member: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Returns the name of an expression such as `stripe.invoices.list`. */
function toName(node: unknown): string {
  if (!isNode(node)) return '';
  if (node.type !== 'MemberExpression') return String(node.value ?? '');
  return `${toName(node.object)}.${toName(node.property)}`;
}

/** Lists the schemas of lists and the calls that list objects, with the member or the constant around a schema. */
function findLists(node: unknown, name = ''): string[] {
  if (Array.isArray(node)) return node.flatMap((element) => findLists(element, name));
  if (!isNode(node)) return [];
  const ownName =
    node.type === 'KeyValueProperty' ? toName(node.key) : node.type === 'VariableDeclarator' ? toName(node.id) : name;
  const callee = node.type === 'CallExpression' ? toName(node.callee) : '';
  const call = schemas.has(callee) ? [ownName] : /^stripe\..*\.list\w*$/.test(callee) ? [callee] : [];
  return [...call, ...Object.values(node).flatMap((value) => findLists(value, ownName))];
}

const root = new URL('../../../lib/stores/', import.meta.url);

const listsOfAdapters = brands.flatMap((brand) =>
  readdirSync(new URL(brand, root)).flatMap((file) => {
    const program = parseSync(readFileSync(new URL(`${brand}/${file}`, root), 'utf8'), { syntax: 'typescript' });
    return findLists(program).map((name) => `${brand}/${file} ${name}`);
  }),
);

describe('lists that an adapter reads', () => {
  it('end on their last page, or are whole by the documentation of the store', () => {
    expect([...new Set(listsOfAdapters)].sort()).toEqual(Object.values(lists).flat().sort());
  });
});

const client = startBeforeAll(startEmulatorClient);

const setLength = async (platform: Platform, listLength: number) =>
  await client.control('PUT', `/control/accounts/${platform}`, { listLength });

const createStoreContext = (platform: Platform): StoreContext => ({
  appName: 'app',
  settings: client.settings(platform),
  now: client.clock.now,
  stopwatch: stoppedStopwatch,
  extraRoots: [client.rootCertificate],
  runOnce: async (_key, run) => await run(),
  getVaultReference: async (customerId) => customerId,
  fetch: createRecordedFetch({
    storeName: platform,
    record: () => undefined,
    now: client.clock.now,
    stopwatch: stoppedStopwatch,
    storesUrl: client.url,
  }),
});

const buy = async (platform: Platform, order: object = {}) => (await client.buy({ platform, ...order })).body;

/** Validates what an app sends for a purchase. */
async function validate(platform: Platform, id: string): Promise<readonly Observation[]> {
  const { additionalData = {}, ...request } = (await client.control('GET', `/control/purchases/${id}`)).body.validate;
  const store = await loadStore(platform);
  return (await store.validate({ ...request, ...additionalData }, createStoreContext(platform))).observations;
}

/** Lists the undelivered notifications of the last day, which include refunds without a notification. */
async function countUndelivered(platform: Platform): Promise<number> {
  const { listUndelivered } = await loadStore(platform);
  return (await listUndelivered?.(client.clock.now() - dayMs, createStoreContext(platform)))?.length ?? 0;
}

describe('list that a store cuts', () => {
  it.each(['store_a', 'processor_a', 'service_processor_a', 'processor_b'] as const)(
    'contains all payments of a subscription of %s',
    async (platform) => {
      const { id } = await buy(platform, { productId: 'basic', autoRenew: true });
      const [bought] = await validate(platform, id);
      // A page has ten times the elements of an embedded list.
      for (let count = 0; count < 11; count++) await client.act(id, 'renew');
      const { refresh } = await loadStore(platform);
      const countPayments = async () => {
        const observations = await refresh?.(bought?.refreshToken ?? {}, createStoreContext(platform));
        return observations?.flatMap(({ transactions }) => transactions).length;
      };
      const whole = await countPayments();
      await setLength(platform, 1);
      expect([whole, await countPayments()]).toEqual([12, 12]);
    },
  );

  it.each(['paid subscription', 'non consumable'])(
    'contains each %s of a customer of the Microsoft Store',
    async (type) => {
      const order = { type, applicationUsername: `owner of ${type}` };
      const ids: string[] = [];
      for (const productId of ['gold', 'silver', 'bronze']) {
        const { id } = await buy('store_c', { ...order, productId: `${productId} ${type}` });
        ids.push(id);
      }
      await setLength('store_c', 1);
      for (const id of ids)
        expect((await validate('store_c', id)).map(({ purchase }) => purchase.purchaseId)).toEqual([`store_c:${id}`]);
    },
  );

  it('contains all notifications that the App Store could not deliver', async () => {
    await client.control('PUT', '/control/notifications/store_a', { url: 'http://127.0.0.1:9/closed' });
    for (const productId of ['one', 'two', 'three']) await buy('store_a', { productId });
    await client.advance('PT1H');
    const whole = await countUndelivered('store_a');
    await setLength('store_a', 1);
    expect([whole, await countUndelivered('store_a')]).toEqual([3, 3]);
  });

  it('contains all voided purchases of Google Play', async () => {
    for (const productId of ['one', 'two', 'three']) {
      const { id } = await buy('store_b', { productId, type: 'non consumable' });
      await client.act(id, 'revoke');
    }
    await setLength('store_b', 1);
    expect(await countUndelivered('store_b')).toBe(3);
  });

  it('contains all Pub/Sub subscriptions of a project', async () => {
    const context = createStoreContext('store_b');
    const { serviceAccount } = parseStoredSettings(context.settings);
    if (!serviceAccount) throw new Error('The emulated store has a service account.');
    const subscriptions = await listSubscriptions(serviceAccount, 'project', {
      ...context,
      fetch: async (url, init) => {
        const { host, searchParams } = new URL(url);
        if (host !== 'pubsub.googleapis.com') return await context.fetch(url, init);
        const index = Number(searchParams.get('pageToken') ?? 1);
        const page = { subscriptions: [{ name: `s${index}` }], ...(index < 3 && { nextPageToken: `${index + 1}` }) };
        return { status: 200, headers: {}, text: JSON.stringify(page) };
      },
    });
    expect(subscriptions?.map(({ name }) => name)).toEqual(['s1', 's2', 's3']);
  });
});
