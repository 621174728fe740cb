import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findCachedApp } from '../../lib/apps/app-table.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { getCustomer, getCustomerPurchases, getCustomerSubscription } from '../../lib/customers/contract.ts';
import { createEventRecorder } from '../../lib/events/event-recorder.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { parse } from '../../lib/foundation/parse.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { hourMs, secondMs } from '../../lib/foundation/time.ts';
import { getPurchase } from '../../lib/purchases/contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { processValidation } from '../../lib/validation/process-validation.ts';
import { toValidationRequest } from '../../lib/validation/to-validation-request.ts';
import { buildBasicAuth, callEndpoint } from '../../testing/call.ts';
import { createUniqueName } from '../../testing/given.ts';
import { startNotificationRouter } from '../../testing/notification-router.ts';
import { sampleItems, sampleRuns } from '../../testing/sample.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const platforms = ['store_b', 'processor_a', 'service_processor_a', 'processor_b'] as const;
const types = ['paid subscription', 'non consumable', 'consumable'] as const;
const cases = platforms.flatMap((platform) => types.map((type) => [platform, type] as const));

/** A sample of the cases: the outcome depends neither on the store nor on the type. */
const someCases = sampleItems(cases, 5);

const service = startBeforeAll(startTestService);
const router = startBeforeAll(async () => await startNotificationRouter(service, platforms));
beforeAll(async () => {
  // Adds the products to the settings of Braintree, which contain its catalogue.
  for (const type of types) await service.callControl('/purchases', toOrder('processor_b', type));
});

const toOrder = (platform: Platform, type: (typeof types)[number]) => ({
  platform,
  acknowledged: true,
  productId: type.replace(/ /g, '-'),
  type,
  priceMicros: 5_000_000,
});

/** A purchase whose payment is pending, in its own app. */
async function buyPending(platform: Platform, type: (typeof types)[number], terms: object = { pending: true }) {
  const keys = await service.createApp([platform]);
  router.routeTo([keys.appName]);
  const username = createUniqueName('user');
  const order = { ...toOrder(platform, type), applicationUsername: username, ...terms };
  const { id } = await service.callControl('/purchases', order);
  const processNotifications = async () => {
    await router.waitUntilPosted();
    await router.process(router.take(keys.appName));
  };
  await processNotifications();
  const headers = buildBasicAuth(keys.appName, keys.secretKey);
  const read = async (endpoint: Parameters<typeof callEndpoint>[0]) =>
    (await callEndpoint(endpoint, { headers, params: { applicationUsername: username } })).body;
  // Purchases of earlier tests continue, and their stores notify this app, too.
  const listChanges = () =>
    router
      .listChanges(keys.appName)
      .filter(({ after }) => after.state.purchase.productId === `${platform}:${order.productId}`);
  const findId = async (): Promise<string> => {
    const [change] = listChanges();
    return change?.after.state.purchase.purchaseId ?? '';
  };
  /** Processes the queued notifications, then the same ones again. */
  const processNotificationsTwice = async () => {
    await router.waitUntilPosted();
    const notifications = router.take(keys.appName);
    await router.process([...notifications, ...notifications.toReversed()]);
  };
  return {
    keys,
    id,
    processNotificationsTwice,
    productId: order.productId,
    username,
    validate: async () => await validate(keys, (await service.callControl(`/purchases/${id}`)).validate, platform),
    act: async (action: string) => {
      await service.callControl(`/purchases/${id}/${action}`, {});
      await processNotifications();
    },
    refresh: async () => await refreshPurchase(router.service, { appName: keys.appName, purchaseId: await findId() }),
    readPurchase: async () =>
      (await callEndpoint(getPurchase, { headers, params: { purchaseId: await findId() } })).body,
    readCustomer: async () => ({
      info: (await read(getCustomer)).customerInfo,
      purchases: (await read(getCustomerPurchases)).purchases,
      subscription: (await read(getCustomerSubscription)).subscription,
    }),
    listTransactions: () =>
      listChanges()
        .at(-1)
        ?.after.state.transactions.map(({ transaction }) => transaction) ?? [],
    listAnnounced: () => listChanges().flatMap(({ announcedReasons }) => announcedReasons),
    listLifecycle: () => listChanges().flatMap(({ lifecycleReasons }) => lifecycleReasons),
  };
}
type PendingPurchase = Awaited<ReturnType<typeof buyPending>>;

/** Validates through the endpoint, and with the router's dependencies to record the changes. */
async function validate(keys: IssuedApiKeys, body: object, platform: Platform) {
  const app = await findCachedApp(router.service, keys.appName);
  if (!app) throw new Error(`${keys.appName} is not found.`);
  const recorder = createEventRecorder({ type: 'receipt.validated', date: router.service.now() });
  const request = toValidationRequest(parse(validateReceipt.body, body));
  await processValidation({ app, recorder, service: router.service }, request, platform).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
  });
  return (await service.validate(keys, body)).body;
}

/** @see docs/decisions/api.md */
const pendingError = {
  ok: false,
  code: 6778006,
  message: 'The payment is pending. Validate again when it is paid.',
};

/** Expects that every response of the service shows the purchase as not owned. */
async function expectOwnedNowhere(purchase: PendingPurchase): Promise<void> {
  const { info, purchases, subscription } = await purchase.readCustomer();
  expect(info).toMatchObject({ activeSubscriber: false, lapsedSubscriber: false });
  expect(info).not.toHaveProperty('lastPurchaseId');
  expect(subscription).toBeUndefined();
  for (const record of Object.values(purchases as Record<string, { isPending?: boolean; isExpired?: boolean }>)) {
    expect(record.isPending === true || record.isExpired === true).toBe(true);
    expect(record).not.toHaveProperty('expirationDate', expect.stringMatching(/^2[1-9]/));
  }
  expect((await purchase.readPurchase()).entitledUsers).toEqual([]);
  expect(purchase.listTransactions()).toEqual([]);
  expect(purchase.listAnnounced()).toEqual([]);
  expect(purchase.listLifecycle()).toEqual([]);
}

describe('pending payment', () => {
  it.each(someCases)('does not entitle the customer to anything (%s, %s)', async (platform, type) => {
    const purchase = await buyPending(platform, type);
    expect(await purchase.validate()).toMatchObject(pendingError);
    await purchase.refresh();
    expect(await purchase.validate()).toMatchObject(pendingError);
    const record = await purchase.readPurchase();
    expect(record.isPending).toBe(true);
    expect(record.isExpired).toBe(type === 'paid subscription' ? true : undefined);
    expect(record).not.toHaveProperty('expirationDate');
    await expectOwnedNowhere(purchase);
  });

  it.each(cases)('entitles the customer and is counted after it is paid (%s, %s)', async (platform, type) => {
    const purchase = await buyPending(platform, type);
    expect(await purchase.validate()).toMatchObject(pendingError);
    await service.callControl('/clock', { advance: 'P2D' });
    const paidAfter = router.service.now() - secondMs;
    await purchase.act('pay');
    expect(purchase.listLifecycle()).toEqual(['PURCHASED']);
    expect(purchase.listTransactions()).toMatchObject([{ amountMicros: 5_000_000 }]);
    const paid = await purchase.readPurchase();
    expect(paid).not.toHaveProperty('lastRenewalDate');
    // Payments of Stripe and one-time payments of Braintree have the date of the order.
    if (platform === 'store_b' || (platform === 'processor_b' && type === 'paid subscription'))
      expect(Date.parse(paid.purchaseDate)).toBeGreaterThanOrEqual(paidAfter);
    expect(await purchase.validate()).toMatchObject({ ok: true, data: { collection: [{ id: purchase.productId }] } });
    const record = await purchase.readPurchase();
    expect(record).not.toHaveProperty('isPending');
    expect(record).toMatchObject({ entitledUsers: [purchase.username] });
    expect(purchase.listTransactions()).toHaveLength(1);
    const { info, subscription } = await purchase.readCustomer();
    expect(info.activeSubscriber).toBe(type === 'paid subscription');
    expect(subscription === undefined).toBe(type !== 'paid subscription');
    expect(purchase.listLifecycle()).toEqual(['PURCHASED']);
  });

  it.each(someCases)(
    'never entitles, refunds or announces after the customer abandons it (%s, %s)',
    async (platform, type) => {
      const purchase = await buyPending(platform, type);
      expect(await purchase.validate()).toMatchObject(pendingError);
      await purchase.act('abandon');
      await purchase.refresh();
      expect(await purchase.validate()).toMatchObject({ ok: false });
      expect(await purchase.readPurchase()).not.toHaveProperty('isPending');
      await expectOwnedNowhere(purchase);
    },
  );

  it.each(someCases)(
    'entitles the customer at the next validation if a notification is lost (%s, %s)',
    async (platform, type) => {
      const purchase = await buyPending(platform, type);
      expect(await purchase.validate()).toMatchObject(pendingError);
      await service.callControl(`/purchases/${purchase.id}/pay`, {});
      await router.waitUntilPosted();
      router.take(purchase.keys.appName);
      expect(await purchase.validate()).toMatchObject({ ok: true });
      expect(purchase.listLifecycle()).toEqual(['PURCHASED']);
    },
  );

  it.each(someCases)(
    'does not entitle the customer while the store is unavailable (%s, %s)',
    async (platform, type) => {
      const purchase = await buyPending(platform, type);
      expect(await purchase.validate()).toMatchObject(pendingError);
      await service.callControl('/faults', { platform, fault: 'down', times: 1000 });
      expect(await purchase.validate()).toMatchObject({ ok: false });
      await service.clearFaults();
    },
  );
});

/** A step of a random life. `pay` and `abandon` have an effect once, `deliver` processes the notifications so far. */
const steps = ['validate', 'refresh', 'pay', 'abandon', 'deliver', 'outage', 'restore'] as const;

describe('pending payment with a random history', () => {
  it('entitles and announces if and only if it was paid', async () => {
    const lives = fc.asyncProperty(
      fc.constantFrom(...cases),
      fc.array(fc.constantFrom(...steps), { minLength: 4, maxLength: 9 }),
      async ([platform, type], life) => {
        const purchase = await buyPending(platform, type);
        await purchase.validate();
        let state: 'pending' | 'paid' | 'abandoned' = 'pending';
        for (const step of life) {
          if ((step === 'pay' || step === 'abandon') && state === 'pending') {
            await service.callControl(`/purchases/${purchase.id}/${step}`, {});
            state = step === 'pay' ? 'paid' : 'abandoned';
          } else if (step === 'refresh') await purchase.refresh();
          else if (step === 'deliver') await purchase.processNotificationsTwice();
          else if (step === 'outage') await service.callControl('/faults', { platform, fault: 'down', times: 1000 });
          else if (step === 'restore') await service.clearFaults();
          const { ok } = await purchase.validate();
          if (state !== 'paid') expect(ok).toBe(false);
          if (state !== 'paid') await expectOwnedNowhere(purchase);
        }
        await service.clearFaults();
        await purchase.processNotificationsTwice();
        expect((await purchase.validate()).ok).toBe(state === 'paid');
        if (state !== 'paid') await expectOwnedNowhere(purchase);
        expect(purchase.listLifecycle()).toEqual(state === 'paid' ? ['PURCHASED'] : []);
        expect(purchase.listTransactions()).toHaveLength(state === 'paid' ? 1 : 0);
      },
    );
    await fc.assert(lives, { ...sampleRuns({ sample: 5, full: 40 }), endOnFailure: true });
  }, 600_000);
});

describe('pre-ordered product', () => {
  it('entitles the customer and is counted from its release, when Google Play charges it', async () => {
    const purchase = await buyPending('store_b', 'non consumable', { preorderPeriod: 'P20D', productId: 'game' });
    expect(await purchase.validate()).toMatchObject(pendingError);
    await service.callControl('/clock', { advance: 'P19D' });
    await purchase.refresh();
    expect(await purchase.validate()).toMatchObject(pendingError);
    await expectOwnedNowhere(purchase);
    await service.callControl('/clock', { advance: 'P1DT1M' });
    const releasedAt = router.service.now();
    await purchase.processNotificationsTwice();
    expect(purchase.listLifecycle()).toEqual(['PURCHASED']);
    const [{ purchaseDate = 0, ...payment } = {}] = purchase.listTransactions();
    expect(payment).toMatchObject({ amountMicros: 5_000_000 });
    expect(releasedAt - purchaseDate).toBeLessThan(hourMs);
    expect(await purchase.validate()).toMatchObject({ ok: true });
  });
});

describe('pending payment in a signed receipt', () => {
  it('does not entitle the customer until the receipt is paid', async () => {
    const keys = await service.createApp(['store_b'], { serviceAccount: undefined });
    const order = { ...toOrder('store_b', 'non consumable'), applicationUsername: createUniqueName('user') };
    const { id, validate: body } = await service.callControl('/purchases', { ...order, pending: true });
    expect((await service.validate(keys, body)).body).toMatchObject(pendingError);
    const { validate: paidBody } = await service.callControl(`/purchases/${id}/pay`, {});
    expect((await service.validate(keys, paidBody)).body).toMatchObject({ ok: true });
    // The client can send the older receipt again.
    expect((await service.validate(keys, body)).body).toMatchObject({ ok: true });
  });
});
