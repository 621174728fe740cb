import { inspect, isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { deps } from '../../composition/deps.ts';
import { createGrant } from '../../lib/api/entitlements.ts';
import type { TransactionRecord } from '../../lib/api/purchase-records.ts';
import { type BreakdownGroup, getStatsBreakdown } from '../../lib/api/stats.ts';
import { listTransactions } from '../../lib/api/transactions.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import { setCatalogue, setSandboxRule } from '../../lib/apps/manage-apps.ts';
import { purchasePartition } from '../../lib/db/keys.ts';
import { toUtcDay } from '../../lib/money/daily-rates.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import type { Platform } from '../../lib/shared/platform.ts';
import { dayMs } from '../../lib/shared/time.ts';
import { setWebhook } from '../../lib/webhooks/manage-webhooks.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { listPurchaseRows, type PurchaseAnswer, readCustomerAnswers } from '../../testing/customer-answers.ts';
import { readEntitlementAnswers } from '../../testing/entitlement-answers.ts';
import { createUniqueName } from '../../testing/given.ts';
import { aggregatePartitions } from '../../testing/given-purchase.ts';
import { type NotificationRouter, startNotificationRouter } from '../../testing/notification-router.ts';
import {
  arbitraryOwnershipHistories,
  buildOwnershipCatalogue,
  type OwnedPurchase,
  type OwnershipHistories,
  ownershipPlatforms,
  type Round,
  startOwnership,
} from '../../testing/random-ownership-histories.ts';
import { sampleRuns } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { readLedger, sumLedger } from '../../testing/store-ledger.ts';
import { isPaidAndRunning, type PurchaseSummary } from '../../testing/store-oracle.ts';
import { waitFor } from '../../testing/wait-for.ts';

let service: TestService;
let router: NotificationRouter;
beforeAll(async () => {
  service = await startTestService();
  router = await startNotificationRouter(service, ownershipPlatforms);
});
afterAll(async () => {
  await router.close();
  await service.close();
});

/** Purchases that exist at the same time in a run. */
const concurrency = 12;
/** Error number of an unavailable store. */
const connectionFailed = 6778002;

describe('responses about a purchase', () => {
  it('agree with the store and with each other, for every store and any history', async () => {
    const runs = sampleRuns({ sample: 1, full: 42 });
    const problems: Problem[] = [];
    for (const histories of fc.sample(arbitraryOwnershipHistories(concurrency), runs)) {
      problems.push(...(await runHistories(histories)));
    }
    if (problems.length > 0) throw new Error(inspect(chooseExamples(problems), { depth: 8, breakLength: 140 }));
  }, 1_800_000);
});

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
async function runHistories({ histories, clockAdvances }: OwnershipHistories): Promise<Problem[]> {
  const keys = await service.createApp(ownershipPlatforms, {}, createUniqueName());
  const playSettings = { ...(await service.callControl('/settings/store_b')), acknowledge: true };
  await deps().apps.setStoreSettings(keys.appName, 'store_b', playSettings);
  const webhooks = { urls: ['https://app.example.com/webhook'], sandboxUrls: [], includesPassword: false };
  await setWebhook(keys.appName, webhooks, { newSecret: true, deps: router.deps });
  router.routeTo([keys.appName]);
  await setCatalogue(deps().apps, keys.appName, buildOwnershipCatalogue('premium'));
  const owned = await Promise.all(histories.map((history) => startOwnership(history, service)));
  const testers = owned.filter((_purchase, index) => index % 2 === 0).map(({ username }) => username);
  await setSandboxRule(deps().apps, keys.appName, { rule: 'listed', usernames: testers });
  const giftedUntil = router.deps.now() + giftMs;
  const gifted = owned.filter((_purchase, index) => index % 3 === 0);
  for (const { username } of gifted) {
    const body = { entitlement: 'gift', until: new Date(giftedUntil).toISOString(), reason: 'a test' };
    await callWithSecretKey(createGrant, keys, { params: { applicationUsername: username }, body });
  }
  const access = {
    allowsSandbox: ({ username }: OwnedPurchase) => testers.includes(username),
    isGifted: (purchase: OwnedPurchase) => gifted.includes(purchase) && router.deps.now() < giftedUntil,
  };
  const problems: Problem[] = [];
  for (const [round, advance] of clockAdvances.entries()) {
    if (round > 0) {
      // Two observations of the same millisecond have no order.
      await service.callControl('/clock', { advance: 'PT1S' });
      await Promise.all(owned.map((purchase) => purchase.act(round - 1)));
    }
    await processNotifications(keys);
    await service.callControl('/clock', { advance });
    await processNotifications(keys);
    service.freezeClock();
    problems.push(...(await checkRound(owned, round, keys)));
    problems.push(...(await findEntitlementProblems(owned, access, keys)));
  }
  router.routeTo([]);
  problems.push(...(await findMoneyProblems(owned, keys)));
  await Promise.all(owned.map((purchase) => purchase.end()));
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
    const answers = await readEntitlementAnswers(keys, purchase.username, ['gift', 'premium']);
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

/** Stores whose records say which payments were made and returned. */
const ledgerPlatforms: readonly Platform[] = [
  'store_a',
  'store_b',
  'processor_a',
  'service_processor_a',
  'processor_b',
];

/** Compares the transactions and the statistics of each platform with the payments that its store has recorded. */
async function findMoneyProblems(owned: readonly OwnedPurchase[], keys: IssuedApiKeys): Promise<Problem[]> {
  // Purchases of earlier runs renew, too: only those with a customer of this run count.
  const validated = owned.filter((purchase) => purchase.wasValidated() && !purchase.history.sandbox);
  const rows = (await listPurchaseRows(keys)).filter(({ entitledUsers }) =>
    validated.some(({ username }) => entitledUsers?.includes(username)),
  );
  await aggregatePartitions(rows.map(({ purchaseId }) => purchasePartition(keys.appName, String(purchaseId))));
  const transactions = (await callWithSecretKey(listTransactions, keys, { query: { limit: '1000' } })).body.rows;
  const [startdate, enddate] = [-400, 400].map((days) => toUtcDay(router.deps.now() + days * dayMs)) as [
    string,
    string,
  ];
  const range = { startdate, enddate, interval: 'range', by: 'platform' };
  const { groups } = (await callWithSecretKey(getStatsBreakdown, keys, { query: range })).body;
  const problems: Problem[] = [];
  for (const platform of ledgerPlatforms) {
    const histories = validated.filter((purchase) => purchase.platform === platform);
    const summaries = (await Promise.all(histories.map(async (purchase) => await purchase.listSummaries()))).flat();
    const entries = summaries.map(readLedger).filter((entry) => entry !== undefined);
    if (entries.length < summaries.length) continue;
    const { paidMicros, returnedMicros } = sumLedger(entries);
    const own = transactions.filter(
      (transaction: TransactionRecord) =>
        transaction.platform === platform && rows.some(({ purchaseId }) => purchaseId === transaction.purchaseId),
    );
    const sum = (read: (transaction: TransactionRecord) => number | null | undefined): number =>
      own.reduce((total: number, transaction: TransactionRecord) => total + (read(transaction) ?? 0), 0);
    const counted = groups.find((group: BreakdownGroup) => group.platform === platform)?.rows[0];
    const netMicros = paidMicros - returnedMicros;
    const ownPaidMicros = sum(({ amountMicros }) => amountMicros);
    const ownReturnedMicros = sum(({ refundedAmountMicros }) => refundedAmountMicros);
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
  await router.process(router.take(appName));
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
    await refreshPurchase({ appName: keys.appName, purchaseId: String(purchaseId) }, router.deps);
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
      isPaidAndRunning(purchase.platform, summary, router.deps.now()) === false &&
      purchase.isFirstPeriodPending()
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

/** The processors and the Microsoft Store do not document what a refund does to a subscription: undefined then. */
function findExpectedOwnership(purchase: OwnedPurchase, summary: PurchaseSummary): boolean | undefined {
  const { platform, history } = purchase;
  const isDecidedByStore = platform === 'store_a' || platform === 'store_b';
  if (purchase.isMoneyReturned() && !isDecidedByStore) return history.type === 'paid subscription' ? undefined : false;
  return isPaidAndRunning(platform, summary, router.deps.now());
}

interface Answers {
  readonly validation: ValidationAnswer | undefined;
  readonly keys: IssuedApiKeys;
  readonly rows: Awaited<ReturnType<typeof listPurchaseRows>>;
}

async function findProblems(purchase: OwnedPurchase, { validation, keys, rows }: Answers): Promise<Problem[]> {
  const summary = await purchase.getSummary();
  const isKnown = validation?.ok || purchase.wasValidated();
  if (validation?.ok) purchase.markValidated();
  const expected = findExpectedOwnership(purchase, summary);
  const answers = await readCustomerAnswers(keys, purchase.username, rows);
  const owned = answers.rows.filter(({ isOwned }) => isOwned);
  const problems: Problem[] = [];
  const report = (problem: string, details: object = {}) => problems.push({ problem, summary, ...details });

  // Google refunds a purchase that is not acknowledged within three days.
  if (expected === true && summary.isAcknowledged === false) report('a paid purchase is not acknowledged');
  if (expected === false && owned.length > 0) report('an unpaid purchase is owned', { owned });
  if (expected === false && validation?.ok) report('an unpaid purchase is validated', { validation });
  if (expected === true && validation?.ok === false) report('a paid purchase is refused', { validation });
  if (expected === true && isKnown && owned.length === 0)
    report('a paid purchase is not owned', { rows: answers.rows });
  if (owned.length > 1) report('one purchase is owned twice', { owned });
  if (owned.some(({ productId }) => productId !== `${purchase.platform}:${summary.productId}`))
    report('another product is owned', { owned });
  for (const row of answers.rows) {
    if (row.isOwned && row.cancelationReason !== undefined)
      report('an owned purchase has a cancelation reason', { row });
  }
  const isUnpaid = purchase.isFirstPeriodPending();
  problems.push(...findDisagreements(answers, isUnpaid).map((problem) => ({ ...problem, summary })));
  if (validation)
    problems.push(...findValidationDisagreements(validation, answers.rows, { platform: purchase.platform, summary }));
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
  { platform, summary }: { readonly platform: Platform; readonly summary: object },
): Problem[] {
  const owned = rows.filter(({ isOwned }) => isOwned);
  if (!validation.ok) {
    return owned.length > 0 ? [{ problem: 'an owned purchase is refused', validation, owned, summary }] : [];
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
