import { inspect, isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { listEntitlements } from '../../console/pages/customers/list-entitlements.ts';
import { addPeriod } from '../../emulator/calendar.ts';
import { changeSettings, type IssuedApiKeys, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { createGrant } from '../../lib/entitlements/contract.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { purchaseKey } from '../../lib/foundation/keys.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import { dayMs, hourMs, secondMs } from '../../lib/foundation/time.ts';
import { toUtcDay } from '../../lib/money/rates.ts';
import { listTransactions, type TransactionRecord } from '../../lib/purchases/transaction-contract.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { type BreakdownGroup, getStatsBreakdown } from '../../lib/statistics/breakdown-contract.ts';
import type { QueuedNotification } from '../../lib/store-notifications/queued-notification.ts';
import { saveWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { startAnnouncementLedgers } from '../../testing/announcement-ledgers.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { listPurchaseRows, type PurchaseAnswer, readCustomerAnswers } from '../../testing/customer-answers.ts';
import { readEntitlementAnswers } from '../../testing/entitlement-answers.ts';
import { createUniqueName } from '../../testing/given.ts';
import { aggregatePartitions } from '../../testing/given-purchase.ts';
import { type NotificationRouter, startNotificationRouter } from '../../testing/notification-router.ts';
import type { PurchaseSummary } from '../../testing/purchase-summary.ts';
import {
  arbitraryOwnershipHistories,
  buildOwnershipCatalogue,
  type Delivery,
  isRental,
  type OwnedPurchase,
  type OwnershipHistories,
  ownershipPlatforms,
  type Round,
  startOwnership,
} from '../../testing/random-ownership-histories.ts';
import { isFull, sampleRuns } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { readLedger, sumLedger } from '../../testing/store-ledger.ts';
import { hasCommittedPayments, isPaidAndRunning, listRunningProducts } from '../../testing/store-oracle.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { startWebhookRecorder, type WebhookRecorder } from '../../testing/webhook-recorder.ts';

let service: TestService;
let router: NotificationRouter;
let recorder: WebhookRecorder;
beforeAll(async () => {
  service = await startTestService();
  recorder = startWebhookRecorder();
  router = await startNotificationRouter(service, ownershipPlatforms);
});
afterAll(async () => {
  recorder.close();
  await router.close();
  await service.close();
});

/** Purchases of each platform that exist at the same time in a run. */
const concurrency = isFull ? 2 : 1;

/** Error number of an unavailable store. */
const connectionFailed = 6778002;

describe('responses about a purchase', () => {
  it('agree with the store, with each other and with the webhooks, for any history and delivery', async () => {
    const runs = sampleRuns({ sample: 1, full: 250 });
    const problems: Problem[] = [];
    for (const histories of fc.sample(arbitraryOwnershipHistories(concurrency), runs)) {
      problems.push(...(await runHistories(histories)));
    }
    if (problems.length > 0) throw new Error(inspect(chooseExamples(problems), { depth: 8, breakLength: 140 }));
  }, 10_800_000);
});

const isStripe = (platform: Platform): boolean => platform === 'processor_a' || platform === 'service_processor_a';

interface Problem {
  readonly problem: string;
  readonly [detail: string]: unknown;
}

/** Returns at most two problems of each kind. */
const chooseExamples = (problems: readonly Problem[]): Problem[] =>
  problems.filter(
    ({ problem }, index) => problems.slice(0, index).filter((other) => other.problem === problem).length < 2,
  );

/** Runs the histories round by round in one app and returns the wrong responses. */
async function runHistories({
  histories,
  accountSettings: { failedPayments, listLength },
  deliveries,
  clockAdvances,
}: OwnershipHistories): Promise<Problem[]> {
  await service.resetStores();
  for (const platform of ownershipPlatforms) {
    await service.changeAccount(platform, { listLength, ...(isStripe(platform) && { failedPayments }) });
  }
  const keys = await service.createApp(ownershipPlatforms, {}, createUniqueName());
  const playSettings = { ...(await service.callControl('/settings/store_b')), acknowledge: true };
  await setStoreSettings(getService(), keys.appName, 'store_b', playSettings);
  const webhooks = { urls: ['https://app.example.com/webhook'], sandboxUrls: [], includesPassword: false };
  await saveWebhook(router.service, keys.appName, webhooks, { newSecret: true });
  router.routeTo([keys.appName]);
  await saveCatalogue(getService(), keys.appName, buildOwnershipCatalogue('premium'));
  const owned = await Promise.all(histories.map((history) => startOwnership(history, service)));
  const testers = owned.filter((_purchase, index) => index % 2 === 0).map(({ username }) => username);
  await changeSettings(getService(), keys.appName, { sandboxRule: { rule: 'listed', usernames: testers } });
  const giftedUntil = router.service.now() + giftMs;
  const gifted = owned.filter((_purchase, index) => index % 3 === 0);
  for (const { username } of gifted) {
    const body = { entitlement: 'gift', until: new Date(giftedUntil).toISOString(), reason: 'a test' };
    await callWithSecretKey(createGrant, keys, { params: { applicationUsername: username }, body });
  }
  const access = {
    allowsSandbox: ({ username }: OwnedPurchase) => testers.includes(username),
    isGifted: (purchase: OwnedPurchase) => gifted.includes(purchase) && router.service.now() < giftedUntil,
  };
  const ledgers = startAnnouncementLedgers(owned, findExpectedProducts);
  const problems: Problem[] = [];
  for (const [round, advance] of clockAdvances.entries()) {
    if (round > 0) {
      // Two observations of the same millisecond are unordered.
      await service.callControl('/clock', { advance: 'PT1S' });
      await Promise.all(owned.map((purchase) => purchase.act(round - 1)));
    }
    const isLast = round === clockAdvances.length - 1;
    const delivery = isLast && deliveries[round] === 'late' ? 'punctual' : deliveries[round];
    await ledgers.readStores();
    await deliver(keys, delivery);
    await advanceStepwise(advance, ledgers.readStores);
    await deliver(keys, delivery);
    service.freezeClock();
    problems.push(...(await checkRound(owned, round, keys)));
    problems.push(...(await findEntitlementProblems(owned, access, keys)));
    problems.push(...(await ledgers.compare(await recorder.take(keys.appName))));
  }
  problems.push(...(await checkRenewalsInOutage(owned, clockAdvances.length, keys)));
  router.routeTo([]);
  problems.push(...(await findMoneyProblems(owned, keys)));
  return problems;
}

/** Shorter than most histories. */
const giftMs = 20 * dayMs;

interface ExpectedAccess {
  allowsSandbox(purchase: OwnedPurchase): boolean;
  isGifted(purchase: OwnedPurchase): boolean;
}

/** All responses have the entitlements of the owned purchase, if it counts, and the granted one. */
async function findEntitlementProblems(
  owned: readonly OwnedPurchase[],
  { allowsSandbox, isGifted }: ExpectedAccess,
  keys: IssuedApiKeys,
): Promise<Problem[]> {
  const rows = await listPurchaseRows(keys);
  const problems: Problem[] = [];
  for (const purchase of owned) {
    const { response, ...others } = await readEntitlementAnswers(keys, purchase.username, ['gift', 'premium']);
    const shown = listEntitlements(response).filter(({ state }) => state !== 'Not active');
    // The panel of the reasons on the page shows `why`.
    const answers = { ...others, console: shown.map(({ name }) => name).sort() };
    const { collection } = await readCustomerAnswers(keys, purchase.username, rows);
    const isPremium = collection.some(({ isOwned }) => isOwned) && (!purchase.isSandbox || allowsSandbox(purchase));
    const expected = [...(isGifted(purchase) ? ['gift'] : []), ...(isPremium ? ['premium'] : [])];
    for (const [name, entitlements] of Object.entries(answers)) {
      if (!isDeepStrictEqual(entitlements, expected)) {
        const history = purchase.describe();
        problems.push({ problem: `the entitlements of ${name} differ`, expected, answers, collection, history });
      }
    }
  }
  return problems;
}

/** Compares the transactions and the statistics of each platform with the payments that its store has recorded. */
async function findMoneyProblems(owned: readonly OwnedPurchase[], keys: IssuedApiKeys): Promise<Problem[]> {
  // Purchases of earlier runs renew, too: only those with a customer of this run count.
  const validated = owned.filter((purchase) => purchase.wasValidated() && !purchase.history.sandbox);
  const rows = (await listPurchaseRows(keys)).filter(({ entitledUsers }) =>
    validated.some(({ usernames }) => usernames.some((username) => entitledUsers?.includes(username))),
  );
  await aggregatePartitions(rows.map(({ purchaseId }) => purchaseKey.partition(keys.appName, String(purchaseId))));
  const transactions = (await callWithSecretKey(listTransactions, keys, { query: { limit: '1000' } })).body.rows;
  // The emulator renews ahead of the time: yearly periods of several renewals are years ahead.
  const [startdate, enddate] = [-400, 3000].map((days) => toUtcDay(router.service.now() + days * dayMs)) as [
    string,
    string,
  ];
  const range = { startdate, enddate, interval: 'range', by: 'platform' };
  const { groups } = (await callWithSecretKey(getStatsBreakdown, keys, { query: range })).body;
  const problems: Problem[] = [];
  for (const platform of ownershipPlatforms) {
    const histories = validated.filter((purchase) => purchase.platform === platform);
    const summaries = (await Promise.all(histories.map(async (purchase) => await purchase.listSummaries()))).flat();
    const entries = summaries.map(readLedger).filter((entry) => entry !== undefined);
    if (entries.length < summaries.length) continue;
    const { paidMicros: storeMicros, returnedMicros } = sumLedger(entries);
    const own = transactions.filter(
      (transaction: TransactionRecord) =>
        transaction.platform === platform && rows.some(({ purchaseId }) => purchaseId === transaction.purchaseId),
    );
    const sum = (read: (transaction: TransactionRecord) => number | null | undefined): number =>
      own.reduce((total: number, transaction: TransactionRecord) => total + (read(transaction) ?? 0), 0);
    const counted = groups.find((group: BreakdownGroup) => group.platform === platform)?.rows[0];
    const subscribers = histories.filter(({ history }) => history.type === 'paid subscription' || isRental(history));
    const active = rows.filter(
      (row) =>
        row.platform === platform &&
        isOwnedRow(row) &&
        row.sandbox !== true &&
        subscribers.some(({ usernames }) => usernames.some((username) => row.entitledUsers?.includes(username))),
    );
    const countedActive = counted?.activeSubscriptions ?? 0;
    // The emulator renews ahead of the time: after a refund of the current period, only a later one is paid.
    const isPaidAhead =
      own.some(({ purchaseDate }: TransactionRecord) => Date.parse(String(purchaseDate)) > router.service.now()) &&
      histories.some((purchase) => purchase.isMoneyReturned());
    if (countedActive !== active.length && !isPaidAhead)
      problems.push({ problem: `active subscriptions of ${platform} differ from access`, countedActive, active });
    const ownPaidMicros = sum(({ amountMicros }) => amountMicros);
    const ownReturnedMicros = sum(({ refundedAmountMicros }) => refundedAmountMicros);
    // The store can report these payments later, for example the first one when the subscription ends early.
    const reportedMicros = histories.reduce((rest, purchase) => rest - purchase.getUnreportedMicros(), storeMicros);
    const paidMicros = Math.min(Math.max(ownPaidMicros, reportedMicros), storeMicros);
    const netMicros = paidMicros - returnedMicros;
    // The emulated merchant of Braintree is in the sandbox, which statistics leave out. A void cancels a payment.
    const isSandbox = platform === 'processor_b';
    const expected = isSandbox ? { netMicros } : { paidMicros, returnedMicros, netMicros };
    const actual = isSandbox
      ? { netMicros: ownPaidMicros - ownReturnedMicros }
      : {
          paidMicros: ownPaidMicros,
          returnedMicros: ownReturnedMicros,
          netMicros: counted?.amountMicros.USD ?? 0,
        };
    if (!isDeepStrictEqual(actual, expected)) {
      const described = histories.map((purchase) => purchase.describe());
      problems.push({ problem: `money of ${platform} differs`, expected, actual, described, summaries, own });
    }
  }
  return problems;
}

async function processNotifications({ appName }: IssuedApiKeys): Promise<void> {
  await router.waitUntilPosted();
  await router.poll(appName);
  await router.process(router.take(appName));
}

/** Late notifications, which arrive with the next delivery. */
let delayed: readonly QueuedNotification[] = [];

/** Tokens of the purchases at Google Play of which a notification was lost. */
let missedTokens: ReadonlySet<unknown> = new Set();

/** Delivers the notifications of the stores as the delivery states. */
async function deliver({ appName }: IssuedApiKeys, delivery: Delivery = 'punctual'): Promise<void> {
  await router.waitUntilPosted();
  await router.poll(appName);
  const posted = router.take(appName);
  const notifications = [...delayed, ...posted];
  const byDelivery: Readonly<Record<Delivery, readonly QueuedNotification[]>> = {
    punctual: notifications,
    late: [...delayed, ...posted.filter(isPolled)],
    lost: notifications.filter(cannotBeLost),
    doubled: [...notifications, ...notifications],
    reversed: notifications.toReversed(),
  };
  delayed = delivery === 'late' ? posted.filter((queued) => !isPolled(queued)) : [];
  const lost = delivery === 'lost' ? notifications.filter((queued) => !cannotBeLost(queued)) : [];
  missedTokens = new Set([...missedTokens, ...lost.map(({ notification }) => notification.payload.token)]);
  await router.process(byDelivery[delivery]);
}

/** The service polls the Microsoft Store, which keeps its events but no earlier payments. */
const isPolled = ({ platform }: QueuedNotification): boolean => platform === 'store_c';

/** Only a notification of Google Play, or the device, reports the new token of a changed plan. */
const cannotBeLost = (queued: QueuedNotification): boolean =>
  isPolled(queued) || (queued.platform === 'store_b' && queued.notification.type === 'SUBSCRIPTION_PURCHASED');

/** The control API accepts six digits. */
const maxStepSeconds = 999_999;

/**
 * Moves the clock to each transition of the stores until the end, and reads the stores after each. The clock runs, so
 * that it is moved by durations.
 */
async function advanceStepwise(advance: string, readStores: () => Promise<void>): Promise<void> {
  const end = addPeriod(router.service.now(), advance);
  for (;;) {
    const { nextDueTime } = await service.callControl('/clock');
    const target = nextDueTime === undefined ? end : Math.min(end, Date.parse(nextDueTime));
    const seconds = Math.max(1, Math.ceil((target - router.service.now()) / secondMs));
    const step = Math.min(maxStepSeconds, seconds);
    await service.callControl('/clock', { advance: `PT${step}S` });
    await readStores();
    if (target === end && step === seconds) return;
  }
}

async function checkRound(owned: readonly OwnedPurchase[], round: number, keys: IssuedApiKeys): Promise<Problem[]> {
  const validating = owned.filter(({ history }) => history.rounds[round] !== 'no validation');
  const claims: Round[] = ['wrong product', 'outage'];
  const suspicious = validating.filter(({ history }) => claims.includes(history.rounds[round] as Round));
  const problems = [
    ...(await checkWrongProducts(
      suspicious.filter(({ history }) => history.rounds[round] === 'wrong product'),
      keys,
    )),
    ...(await checkOutage(
      suspicious.filter(({ history }) => history.rounds[round] === 'outage'),
      keys,
    )),
  ];
  const validations = new Map<OwnedPurchase, ValidationAnswer>();
  // One after the other: the order of the claims of one store account is then the order of the histories.
  for (const purchase of validating) validations.set(purchase, await validate(purchase, keys));
  for (const { purchaseId } of await listPurchaseRows(keys)) {
    await refreshPurchase(router.service, { appName: keys.appName, purchaseId: String(purchaseId) });
  }
  const rows = await listPurchaseRows(keys);
  for (const purchase of owned) {
    if (round > 0 || validating.includes(purchase)) {
      const found = await findProblems(purchase, { validation: validations.get(purchase), keys, rows });
      problems.push(...found.map((problem) => ({ ...problem, round, history: purchase.describe() })));
    }
  }
  return problems;
}

// biome-ignore lint/suspicious/noExplicitAny: the tests read responses of both shapes.
type ValidationAnswer = any;

/** Validates again, like a client, while the store is unavailable: the time budget can end on a slow machine. */
async function validate(purchase: OwnedPurchase, keys: IssuedApiKeys): Promise<ValidationAnswer> {
  const evidence = await purchase.getEvidence();
  const send = async () => (await service.validate(keys, evidence)).body;
  return await waitFor('a validation', send, ({ code }) => code !== connectionFailed);
}

/** A product that is not the one of the evidence is not owned, whether the store is available or not. */
async function checkWrongProducts(purchases: readonly OwnedPurchase[], keys: IssuedApiKeys): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const purchase of purchases) {
    const evidence = await purchase.getEvidence();
    const { body } = await service.validate(keys, { ...evidence, id: purchase.wrongProductId });
    if (body.ok)
      problems.push({ problem: 'a product that was not bought is owned', history: purchase.describe(), body });
  }
  return problems;
}

/** While a store is unavailable, nothing is owned beyond the evidence and what the store has confirmed before. */
async function checkOutage(purchases: readonly OwnedPurchase[], keys: IssuedApiKeys): Promise<Problem[]> {
  if (purchases.length > 0) await refreshUnverified(keys);
  const evidences = await Promise.all(purchases.map(async (purchase) => await purchase.getEvidence()));
  for (const platform of ownershipPlatforms) {
    await service.callControl('/faults', { platform, fault: 'down', times: 10_000 });
  }
  const problems: Problem[] = [];
  for (const [index, purchase] of purchases.entries()) {
    const right = await service.validate(keys, evidences[index]);
    const summary = await purchase.getSummary();
    if (
      right.body.ok &&
      isPaidAndRunning(purchase.platform, summary, router.service.now()) === false &&
      purchase.isFirstPeriodPending() &&
      // Braintree starts a pending subscription on its first billing day. What it has confirmed then can be owned.
      !(summary.paidMicros > 0)
    )
      problems.push({ problem: 'an unpaid purchase is owned in an outage', history: purchase.describe() });
    const wrong = await service.validate(keys, { ...evidences[index], id: purchase.wrongProductId });
    if (wrong.body.ok) {
      const history = purchase.describe();
      problems.push({ problem: 'a product that was not bought is owned in an outage', history, body: wrong.body });
    }
  }
  await service.clearFaults();
  return problems;
}

/** Refreshes subscriptions after their renewal date. The schedule does so before an outage can end them. */
async function refreshUnverified(keys: IssuedApiKeys): Promise<void> {
  for (const { purchaseId, unverifiedSince } of await listPurchaseRows(keys)) {
    if (unverifiedSince !== undefined)
      await refreshPurchase(router.service, { appName: keys.appName, purchaseId: String(purchaseId) });
  }
}

/** Longer would pass the 60 days after which Google Play deletes an expired subscription. */
const maxOutageMs = 10 * dayMs;

/**
 * A subscription whose renewal date passes while its store is unavailable keeps access for the app's unverified hours,
 * marked, and is not announced as expired. Afterwards, all responses agree with the store again.
 */
async function checkRenewalsInOutage(
  owned: readonly OwnedPurchase[],
  round: number,
  keys: IssuedApiKeys,
): Promise<Problem[]> {
  const now = router.service.now();
  const summaries = (await Promise.all(owned.map(async (purchase) => await purchase.listSummaries()))).flat();
  const committedIds = summaries.filter(hasCommittedPayments).map(({ id }) => id);
  const renewing = (await listPurchaseRows(keys)).flatMap((row) => {
    const end = Date.parse(String(row.expirationDate));
    const isPaidOn =
      row.renewalIntent === 'Renew' || committedIds.some((id) => String(row.purchaseId).endsWith(`:${id}`));
    const isRenewing = isOwnedRow(row) && isPaidOn && row.isBillingRetryPeriod !== true;
    return isRenewing && end > now && end - now < maxOutageMs ? [{ purchaseId: String(row.purchaseId), end }] : [];
  });
  const first = renewing.toSorted((a, b) => a.end - b.end)[0];
  if (first === undefined) return [];
  const announced = router.listChanges(keys.appName).length;
  for (const platform of ownershipPlatforms) {
    await service.callControl('/faults', { platform, fault: 'down', times: 10_000 });
  }
  await service.callControl('/notifications', { held: true });
  await service.callControl('/clock', { set: new Date(first.end + 2 * hourMs).toISOString() });
  service.freezeClock();
  for (const { purchaseId } of renewing) {
    await refreshPurchase(router.service, { appName: keys.appName, purchaseId }).catch(ignoreOutage);
  }
  const rows = await listPurchaseRows(keys);
  const problems: Problem[] = [];
  for (const { purchaseId, end } of renewing) {
    const row = rows.find((other) => other.purchaseId === purchaseId);
    const unverifiedSince = end <= router.service.now() ? new Date(end).toISOString() : undefined;
    if (row && (!isOwnedRow(row) || row.unverifiedSince !== unverifiedSince))
      problems.push({ problem: 'a renewal in an outage ends access', row, unverifiedSince });
  }
  const changes = router.listChanges(keys.appName).slice(announced);
  if (changes.some(({ announcedReasons }) => announcedReasons.includes('EXPIRED')))
    problems.push({ problem: 'an outage is announced as an expiration', changes });
  await service.clearFaults();
  await service.callControl('/notifications/release', {});
  await clearDeliveryRules();
  await processNotifications(keys);
  return [...problems, ...(await checkRound(owned, round, keys))];
}

const isOwnedRow = ({ isExpired, isPending, isConsumed }: Readonly<Record<string, unknown>>): boolean =>
  ![isExpired, isPending, isConsumed].includes(true);

const clearDeliveryRules = async (): Promise<void> =>
  void (await fetch(`${service.emulatorUrl}/control/notifications`, { method: 'DELETE' }));

/** The queue repeats a refresh that failed. */
const ignoreOutage = (error: unknown): void => {
  if (!(error instanceof ServiceError) || error.code !== 'ConnectionFailed') throw error;
};

/** Braintree and the Microsoft Store do not document what a refund does to a subscription: undefined then. */
function findExpectedProducts(
  purchase: OwnedPurchase,
  summary: PurchaseSummary,
): ReturnType<typeof listRunningProducts> {
  const { platform, history } = purchase;
  const products = listRunningProducts(platform, summary, router.service.now());
  const isSubscription = history.type === 'paid subscription';
  const isDecidedByStore = platform === 'store_a' || platform === 'store_b' || (isSubscription && isStripe(platform));
  if (!purchase.isMoneyReturned() || isDecidedByStore) return products;
  const isOwned = isSubscription ? undefined : false;
  return new Map([...products.keys()].map((productId) => [productId, isOwned]));
}

interface Answers {
  readonly validation: ValidationAnswer | undefined;
  readonly keys: IssuedApiKeys;
  readonly rows: Awaited<ReturnType<typeof listPurchaseRows>>;
}

async function findProblems(purchase: OwnedPurchase, { validation, keys, rows }: Answers): Promise<Problem[]> {
  const summary = await purchase.getSummary();
  const isKnown = validation?.ok || purchase.wasValidated();
  if (validation?.ok) purchase.markValidated(summary);
  const products = findExpectedProducts(purchase, summary);
  const isPaid = products.get(summary.productId) === true;
  const isNonePaid = [...products.values()].every((isRunning) => isRunning === false);
  const answers = await readCustomerAnswers(keys, purchase.username, rows);
  const owned = answers.rows.filter(({ isOwned }) => isOwned);
  const ownedIds = owned.map(({ productId }) => productId.slice(purchase.platform.length + 1));
  const problems: Problem[] = [];
  const report = (problem: string, details: object = {}) => problems.push({ problem, summary, ...details });

  // Google refunds a purchase that is not acknowledged within three days. The service does not know one whose
  // notification is lost until a client validates it.
  const isStored = rows.some(({ purchaseId }) => String(purchaseId).startsWith(`${purchase.platform}:${summary.id}`));
  const isMissed = !isStored && missedTokens.has(summary.id);
  if (isPaid && !isMissed && summary.isAcknowledged === false) report('a paid purchase is not acknowledged');
  if (ownedIds.some((id) => products.get(id) === false)) report('an unpaid purchase is owned', { owned });
  if (isNonePaid && validation?.ok) report('an unpaid purchase is validated', { validation });
  if (isPaid && validation?.ok === false) report('a paid purchase is refused', { validation });
  if (isKnown && [...products].some(([id, isRunning]) => isRunning && !ownedIds.includes(id)))
    report('a paid purchase is not owned', { rows: answers.rows });
  if (new Set(ownedIds).size < ownedIds.length) report('one purchase is owned twice', { owned });
  if (ownedIds.some((id) => !products.has(id))) report('another product is owned', { owned });
  if (owned.length > 0) problems.push(...findVariantProblems(owned, summary, rows));
  for (const row of answers.rows) {
    if (row.isOwned && row.cancelationReason !== undefined)
      report('an owned purchase has a cancelation reason', { row });
  }
  // The service can miss the payment of a pending purchase: Google Play refunds it unless it is acknowledged.
  const isUnpaid = purchase.isFirstPeriodPending() || (purchase.history.pending && !purchase.wasValidated());
  problems.push(...findDisagreements(answers, isUnpaid).map((problem) => ({ ...problem, summary })));
  if (validation)
    problems.push(...findValidationDisagreements(validation, answers.rows, { platform: purchase.platform, summary }));
  return problems;
}

/** A multiseat purchase shows the seats that are not refunded. A canceled commitment ends with its last period. */
function findVariantProblems(
  owned: readonly PurchaseAnswer[],
  summary: PurchaseSummary,
  rows: Answers['rows'],
): Problem[] {
  const records = owned.map(({ purchaseId }) => rows.find((row) => row.purchaseId === purchaseId));
  const problems: Problem[] = [];
  if (summary.seats !== undefined && records.some((record) => record?.quantity !== summary.seats))
    problems.push({ problem: 'the seats differ', summary, records });
  const { renews } = summary.commitment ?? summary.installments ?? {};
  if (renews === false && owned.some(({ renewalIntent }) => renewalIntent !== 'Lapse'))
    problems.push({ problem: 'a canceled commitment renews', summary, owned });
  return problems;
}

/** All reads and the webhook return the same purchases. A webhook leaves out a purchase that was never paid. */
function findDisagreements(answers: Awaited<ReturnType<typeof readCustomerAnswers>>, isUnpaid: boolean): Problem[] {
  const { collection, details, single, rows, webhook, subscription, customerInfo } = answers;
  const problems: Problem[] = [];
  for (const [name, other] of Object.entries({ details, single, ...(!isUnpaid && { webhook }) })) {
    if (!isDeepStrictEqual(collection, other))
      problems.push({ problem: `${name} differ from the collection`, collection, other });
  }
  for (const answer of collection) {
    const row = rows.find(({ purchaseId }) => purchaseId === answer.purchaseId);
    if (!isDeepStrictEqual(row, answer)) problems.push({ problem: 'the list row differs', answer, row });
  }
  const ownedRows = rows.filter(({ isOwned }) => isOwned);
  if (ownedRows.some((row) => !collection.some(({ purchaseId }) => purchaseId === row.purchaseId)))
    problems.push({ problem: 'an owned purchase is missing in the collection', rows, collection });
  if (subscription && !collection.some((answer) => isDeepStrictEqual(answer, subscription)))
    problems.push({ problem: 'the subscription differs', subscription, collection });
  const isSubscriber = subscription?.isOwned === true;
  if ((customerInfo.activeSubscriber ?? false) !== isSubscriber)
    problems.push({ problem: 'activeSubscriber differs from the subscription', customerInfo, subscription });
  return problems;
}

/** The validation owns what the reads own, with the same product, expiration and reason. */
function findValidationDisagreements(
  validation: ValidationAnswer,
  rows: readonly PurchaseAnswer[],
  { platform, summary }: { readonly platform: Platform; readonly summary: PurchaseSummary },
): Problem[] {
  const owned = rows.filter(({ isOwned }) => isOwned);
  if (!validation.ok) {
    const isRefused = owned.some(({ productId }) => productId === `${platform}:${summary.productId}`);
    return isRefused ? [{ problem: 'an owned purchase is refused', validation, owned, summary }] : [];
  }
  const problems: Problem[] = [];
  if (owned.length === 0)
    problems.push({ problem: 'the validation owns more than the reads', validation, rows, summary });
  for (const item of validation.data.collection) {
    const row = rows.find(({ purchaseId }) => purchaseId === `${platform}:${item.purchaseId}`);
    const fromItem = {
      transactionId: `${platform}:${item.transactionId}`,
      productId: `${platform}:${item.id}`,
      isOwned: !item.isExpired && !item.isConsumed,
      expirationDate: item.expiryDate && `${new Date(item.expiryDate).toISOString().slice(0, 19)}.000Z`,
      cancelationReason: item.cancelationReason,
      renewalIntent: item.renewalIntent,
    };
    if (!row) problems.push({ problem: 'the validation has an unknown purchase', item, rows });
    else {
      const { purchaseId: _purchaseId, isPending: _isPending, ...fromRow } = row;
      if (!isDeepStrictEqual(fromItem, fromRow))
        problems.push({ problem: 'the validation differs from the reads', fromItem, row });
    }
  }
  return problems;
}
