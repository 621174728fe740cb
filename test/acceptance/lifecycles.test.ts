import { inspect, isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pMap from 'p-map';
import { getApp, type IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { findStoreSettings, setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { createEventRecorder } from '../../lib/events/event-recorder.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { parse } from '../../lib/foundation/parse.ts';
import { importRow } from '../../lib/import/import-row.ts';
import { parseImportRow } from '../../lib/import/parse-import-row.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { processValidation } from '../../lib/validation/process-validation.ts';
import { toValidationRequest } from '../../lib/validation/to-validation-request.ts';
import { expectAnnouncedOnce } from '../../testing/expect-announced-once.ts';
import { loadPurchases } from '../../testing/load-purchases.ts';
import { type NotificationRouter, startNotificationRouter } from '../../testing/notification-router.ts';
import {
  arbitraryStoreHistories,
  type HistoryPlatform,
  historyPlatforms,
  type RunningHistory,
  type StoreHistories,
  type StoreHistory,
  startHistory,
} from '../../testing/random-store-histories.ts';
import { isFull, sampleItems, sampleRuns } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { waitFor } from '../../testing/wait-for.ts';

let service: TestService;
let router: NotificationRouter;
beforeAll(async () => {
  service = await startTestService();
  router = await startNotificationRouter(service, historyPlatforms);
});
afterAll(async () => {
  await router.close();
  await service.close();
});

/** Subscriptions of each platform that exist at the same time in a run. */
const concurrency = isFull ? 5 : 3;

/** Concurrent validations share the time of a slow machine, and each has a time budget. */
const validationConcurrency = 4;

describe('lifecycle of a subscription', () => {
  it('ends in the same state with the same announcements if notifications arrive late, twice and out of order', async () => {
    const property = fc.asyncProperty(
      arbitraryStoreHistories(concurrency),
      fc.infiniteStream(fc.nat()),
      async (histories, positions) => {
        await service.resetStores();
        const punctual = await service.createApp(historyPlatforms);
        const late = await service.createApp(historyPlatforms);
        await runHistories(histories, punctual, late);
        // Apple signs the content of a notification, so it is processed without the API, too.
        const fault = { platform: 'store_a', fault: 'down', times: histories.failedAppStoreCalls };
        if (fault.times > 0) await service.callControl('/faults', fault);
        await processLate(late, () => positions.next().value);
        await service.clearFaults();
        // Both apps query the stores and are compared at the same time.
        service.freezeClock();
        await Promise.all([refreshAll(punctual), refreshAll(late)]);
        await expectSamePurchases(punctual, late);
        for (const [label, { appName }] of [
          ['punctual', punctual],
          ['late', late],
        ] as const) {
          expectAnnouncedOnce(`the ${label} app`, router.listChanges(appName), router.service.now());
        }
      },
    );
    // No shrinking: a run takes seconds.
    await fc.assert(property, { ...sampleRuns({ sample: 1, full: 100 }), endOnFailure: true });
  }, 10_800_000);
});

/** The purchases of Braintree are made by a validation, so none of them is missed. */
const missedPlatforms = ['store_a', 'store_b', 'processor_a'] as const;

/** Actions at each store, and the announcements about payments and ends in their order. */
const missedHistories: readonly (readonly [
  actions: string,
  announced: string,
  platforms: readonly HistoryPlatform[],
])[] = [
  ['renew', 'PURCHASED RENEWED', missedPlatforms],
  ['renew renew', 'PURCHASED RENEWED', missedPlatforms],
  // Apple signs the current product only: the first sight after a plan change does not show the former plan.
  ['change-plan renew', 'PURCHASED PLAN_CHANGED RENEWED', ['store_b', 'processor_a']],
  ['renew cancel expire', 'PURCHASED RENEWED EXPIRED', missedPlatforms],
  // Google Play keeps access after a refund. Its notifications do not report it.
  ['refund', 'PURCHASED REFUNDED', ['store_a', 'processor_a']],
  ['renew refund', 'PURCHASED RENEWED REFUNDED', ['store_a', 'processor_a']],
  ['renew revoke', 'PURCHASED RENEWED REVOKED', ['store_b', 'processor_a']],
];

/** How an app sees a history. A `known` one is validated before its first action. */
const sights = [
  'punctual',
  'held',
  'reversed',
  'validated',
  'known held',
  'known reversed',
  'known validated',
  // Apple signs the content of a notification, so it is processed while the App Store Server API is unavailable.
  'offline held',
  'offline reversed',
] as const;
type Sight = (typeof sights)[number];

describe('announcements of a missed history', () => {
  it('repeats the same announcements in the same order, whenever and in whichever order the service sees a history', async () => {
    await service.resetStores();
    const histories = missedHistories.flatMap(([actions, announced, platforms]) =>
      platforms.map((platform) => ({ platform, actions: actions.split(' '), announced: announced.split(' ') })),
    );
    const apps = new Map<Sight, IssuedApiKeys>();
    for (const sight of sampleItems(sights, 3)) apps.set(sight, await createAcknowledgingApp());
    const selectApps = (isSelected: (sight: Sight) => boolean) =>
      [...apps].filter(([sight]) => isSelected(sight)).map(([, keys]) => keys);
    router.routeTo([...apps.values()].map(({ appName }) => appName));
    const running = await Promise.all(
      histories.map(async ({ platform, actions }) => {
        const history = { platform, actions, autoRenew: false, period: 'P1M', order: {}, validates: 'never' } as const;
        return await startHistory(history, service);
      }),
    );
    await validateAll(
      running,
      selectApps((sight) => sight.startsWith('known')),
    );
    // An earlier test can have stopped the clock.
    await service.callControl('/clock', { advance: 'PT1H' });
    for (let round = 0; round < 3; round++) {
      await Promise.all(running.map((history) => history.act(round)));
      await Promise.all(selectApps((sight) => sight === 'punctual').map(processAtOnce));
      await service.callControl('/clock', { advance: 'P3D' });
    }
    await router.waitUntilPosted();
    for (const [sight, { appName }] of apps) {
      const notifications = router.take(appName);
      if (sight.includes('offline'))
        await service.callControl('/faults', { platform: 'store_a', fault: 'down', times: 1e4 });
      const seen = notifications.filter(({ platform }) => platform === 'store_a' || !sight.includes('offline'));
      if (sight.includes('held')) await router.process(seen);
      if (sight.includes('reversed')) await router.process(seen.toReversed());
      await service.clearFaults();
    }
    await validateAll(
      running,
      selectApps((sight) => sight.includes('validated')),
    );
    router.routeTo([]);
    const differences = [...apps].flatMap(([sight, { appName }]) =>
      running.flatMap(({ history: { platform, actions }, getPurchaseIds }, index) => {
        if (sight.includes('offline') && platform !== 'store_a') return [];
        const ids = getPurchaseIds();
        const reasons = router
          .listChanges(appName)
          .filter(({ after }) => ids.includes(after.state.purchase.purchaseId))
          .flatMap(({ lifecycleReasons }) => lifecycleReasons)
          .filter((reason) => !intermediateReasons.includes(reason));
        const announced = [...new Set(reasons)].join(' ');
        const expected = histories[index]?.announced.join(' ');
        return announced === expected ? [] : [{ sight, platform, actions: actions.join(' '), announced, expected }];
      }),
    );
    expect(differences).toEqual([]);
    await Promise.all(running.map((history) => history.end()));
  }, 600_000);
});

/** Google Play refunds a purchase that no app acknowledges within three days. */
const createAcknowledgingApp = async (): Promise<IssuedApiKeys> => {
  const keys = await service.createApp(historyPlatforms);
  const settings = (await findStoreSettings(router.service, keys.appName, 'store_b')) as object;
  await setStoreSettings(router.service, keys.appName, 'store_b', { ...settings, acknowledge: true });
  return keys;
};

/**
 * The reasons of states that end without a trace: a later state does not show that the customer canceled in between.
 */
const intermediateReasons: readonly string[] = [
  'ACKNOWLEDGED',
  'WILL_LAPSE',
  'WILL_AUTO_RENEW',
  'ENTERED_GRACE_PERIOD',
  'EXTENDED',
];

async function validateAll(running: readonly RunningHistory[], apps: readonly IssuedApiKeys[]): Promise<void> {
  const appNames = apps.map(({ appName }) => appName);
  await pMap(running, async (history) => await validateIn(history, appNames), { concurrency: validationConcurrency });
}

/** Runs the histories round by round. The punctual app processes notifications at once, the late app not yet. */
async function runHistories(
  { histories, failedPayments, listLength, clockAdvances }: StoreHistories,
  punctual: IssuedApiKeys,
  late: IssuedApiKeys,
): Promise<void> {
  for (const platform of historyPlatforms)
    await service.changeAccount(platform, { listLength, ...(platform === 'processor_a' && { failedPayments }) });
  router.routeTo([punctual.appName, late.appName]);
  // The run before has stopped the clock: a purchase and its refund at one time are unordered.
  await service.callControl('/clock', { advance: 'PT1H' });
  const running = await Promise.all(histories.map((history) => startHistory(history, service)));
  const validate = async (when: StoreHistory['validates']) => {
    const validating = running.filter(({ history }) => history.validates === when);
    await validateAll(validating, [punctual, late]);
  };
  await processAtOnce(punctual);
  await validate('first');
  for (const [round, advance] of clockAdvances.entries()) {
    await Promise.all(running.map((history) => history.act(round)));
    await Promise.all([punctual, late].map(async ({ appName }) => await router.recover(appName)));
    await processAtOnce(punctual);
    await service.callControl('/clock', { advance });
    await processAtOnce(punctual);
  }
  await validate('last');
  router.routeTo([]);
}

/** Validates the current evidence. Uses the router's dependencies instead of the handler, to record the changes. */
async function validateIn(running: RunningHistory, [appName, ...others]: readonly string[]): Promise<void> {
  if (appName === undefined) return;
  const { history, getEvidence } = running;
  const request = toValidationRequest(parse(validateReceipt.body, await getEvidence()));
  const app = await getApp(router.service, appName);
  const validate = async () => {
    const recorder = createEventRecorder({ type: 'receipt.validated', date: router.service.now() });
    return await processValidation({ app, recorder, service: router.service }, request, history.platform).then(
      () => true,
      isPermanent,
    );
  };
  // A client validates again if the store was unavailable, for example because the time budget has ended.
  await waitFor(`a validation in ${appName}`, validate, (isFinished) => isFinished);
  // A nonce of Braintree makes one purchase, in one app.
  if (history.platform === 'processor_b') await importIn(running, others);
  else await validateIn(running, others);
}

async function importIn({ getImportRow }: RunningHistory, appNames: readonly string[]): Promise<void> {
  const row = parseImportRow(await getImportRow());
  for (const appName of appNames) {
    const app = await getApp(router.service, appName);
    await importRow(router.service, row, { app, line: 1, isUnannounced: false, onStoreCall: () => {} });
  }
}

/** Another attempt is useless: a subscription that has ended can be rejected. */
const isPermanent = (error: unknown): boolean => {
  if (!(error instanceof ServiceError)) throw error;
  return error.code !== 'ConnectionFailed';
};

async function processAtOnce({ appName }: IssuedApiKeys): Promise<void> {
  await router.waitUntilPosted();
  const notifications = router.take(appName);
  await Promise.all(
    historyPlatforms.map(async (platform) => {
      await router.process(notifications.filter((notification) => notification.platform === platform));
    }),
  );
}

const workerCount = 4;

/** Processes all notifications of the app twice, in random order, with several workers. */
async function processLate({ appName }: IssuedApiKeys, choosePosition: () => number): Promise<void> {
  const notifications = router.take(appName);
  expect(notifications.length).toBeGreaterThan(concurrency);
  const shuffled = [...notifications, ...notifications]
    .map((notification) => ({ notification, position: choosePosition() }))
    .sort((a, b) => a.position - b.position)
    .map(({ notification }) => notification);
  const shares = Array.from({ length: workerCount }, (_, worker) =>
    shuffled.filter((_notification, index) => index % workerCount === worker),
  );
  await Promise.all(shares.map(router.process));
}

/**
 * Queries the stores for all purchases: a store does not notify of every change, for example Google Play of some
 * refunds.
 */
async function refreshAll({ appName }: IssuedApiKeys): Promise<void> {
  for (const purchaseId of (await loadPurchases(appName)).keys()) {
    await refreshPurchase(router.service, { appName, purchaseId });
  }
}

/**
 * Loads the purchases. Google Play removes the context of a failed payment when the subscription ends, and lists by
 * whom an order was voided for 30 days: an app that sees it later does not know why the subscription ended.
 */
async function loadComparablePurchases({ appName }: IssuedApiKeys): Promise<Map<string, unknown>> {
  const purchases = [...(await loadPurchases(appName))].map(([id, stored]) => {
    const { platform, cancelationReason = '' } = stored.purchase;
    const isUnknown = platform === 'store_b' && ['System.BillingError', 'Developer'].includes(cancelationReason);
    const purchase = isUnknown ? { ...stored.purchase, cancelationReason: 'System' } : stored.purchase;
    const transactions = stored.transactions.map(({ voidReason: _reason, ...transaction }) => transaction);
    return [id, { ...stored, purchase, transactions }] as const;
  });
  return new Map(purchases);
}

/** Throws an error with every purchase that differs between the apps, its two states and its two histories. */
async function expectSamePurchases(punctual: IssuedApiKeys, late: IssuedApiKeys): Promise<void> {
  const [expected, actual] = await Promise.all([loadComparablePurchases(punctual), loadComparablePurchases(late)]);
  const differences = [...new Set([...expected.keys(), ...actual.keys()])]
    .filter((purchaseId) => !isDeepStrictEqual(expected.get(purchaseId), actual.get(purchaseId)))
    .map((purchaseId) => ({
      purchaseId,
      punctual: { state: expected.get(purchaseId), reasons: listReasons(punctual, purchaseId) },
      late: { state: actual.get(purchaseId), reasons: listReasons(late, purchaseId) },
    }));
  if (differences.length > 0) throw new Error(`The purchases differ: ${inspect(differences, { depth: 8 })}`);
}

/** Lists the lifecycle reasons of each version of a purchase. */
const listReasons = ({ appName }: IssuedApiKeys, purchaseId: string): string[] =>
  router
    .listChanges(appName)
    .filter(({ after }) => after.state.purchase.purchaseId === purchaseId)
    .map(({ after, lifecycleReasons, announcedReasons }) =>
      [
        `version ${after.version} at ${new Date(after.updatedAt).toISOString()}:`,
        lifecycleReasons.join(' ') || 'no lifecycle reason,',
        `announced ${announcedReasons.join(' ') || 'nothing'}`,
      ].join(' '),
    );
