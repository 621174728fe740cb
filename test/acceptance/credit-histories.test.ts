import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect, isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pMap from 'p-map';
import { changeSettings, getApp, type IssuedApiKeys, saveCatalogue } from '../../lib/apps/manage-apps.ts';
import { type CreditContext, endHold, give, spend, take } from '../../lib/credits/change-credits.ts';
import { listCreditHistory } from '../../lib/credits/contract.ts';
import type { CreditAccount } from '../../lib/credits/credit-account.ts';
import type { CreditEntry } from '../../lib/credits/credit-entry.ts';
import { scanAccounts } from '../../lib/credits/credit-table.ts';
import { settleCredits } from '../../lib/credits/settle-credits.ts';
import { eraseCustomer } from '../../lib/customer-data/erase-customer.ts';
import { mergeCustomers, reverseMerge } from '../../lib/customer-data/merge-customers.ts';
import { toExportedCredits, toExportedPurchase, toExportedTransaction } from '../../lib/export/export-rows.ts';
import { type Container, clientOptions, setContainerLookup } from '../../lib/foundation/container.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import type { Service } from '../../lib/foundation/service.ts';
import { dayMs, minuteMs, secondMs } from '../../lib/foundation/time.ts';
import { findStoredPurchase } from '../../lib/purchases/purchase-table.ts';
import { enqueueDueItems } from '../../lib/refresh/enqueue-due-items.ts';
import { refreshPurchase } from '../../lib/refresh/refresh-purchase.ts';
import { processNotification } from '../../lib/store-notifications/process-notification.ts';
import type { QueuedNotification } from '../../lib/store-notifications/queued-notification.ts';
import { type Attempt, createAttempt } from '../../testing/attempt-operations.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import {
  arbitraryCreditRun,
  buildCreditCatalogue,
  type CreditRun,
  type CreditStep,
  givenUnits,
} from '../../testing/credit-histories.ts';
import { listPurchaseRows } from '../../testing/customer-answers.ts';
import { createUniqueName } from '../../testing/given.ts';
import { type NotificationRouter, startNotificationRouter } from '../../testing/notification-router.ts';
import {
  type Delivery,
  type OwnedPurchase,
  ownershipPlatforms,
  startOwnership,
} from '../../testing/random-ownership-histories.ts';
import { recountRows } from '../../testing/recount.ts';
import { generateSamples, isFull, sampleRuns } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { createStepCounts, type StepCounts } from '../../testing/step-counts.ts';
import { readLedger } from '../../testing/store-ledger.ts';
import { emptyTestTable } from '../../testing/table.ts';

const tableName = 'claimcheck-test-credit-histories';
const noQueue = { send: async () => {} };
const queues = { refreshQueue: noQueue, webhookQueue: noQueue };

let service: TestService;
let router: NotificationRouter;
beforeAll(async () => {
  // Its own table: the worker of due items reads the items of all apps.
  service = await startTestService(tableName);
  setContainerLookup(() => containers.getStore());
  router = await startNotificationRouter(service, ownershipPlatforms);
});
afterAll(async () => {
  await router.close();
  await service.close();
});

/**
 * A step is an operation of a client or a worker that can crash before or after any of its writes: a request (each of
 * 20 concurrent spenders sends one), its repetition, a validation, a merge, an erasure, a notification, a refresh, a
 * settlement or a search for due items. The attempts after a crash are parts of it. An instruction of a script that
 * finds nothing to do is none: for example the end of a hold before there is one.
 */
const { numRuns: stepCount } = sampleRuns({ sample: 1, full: 1_000_000 });

/** Instructions in the script of a run. */
const scriptLength = isFull ? 1_000 : 150;

/** Instructions that are performed at the same time. */
const concurrency = 16;

describe('credit account (any history at the stores, with crashes between any two writes)', () => {
  it('keeps what was given and is not spent, taken back or expired, as an independent recount does', async () => {
    const counts = createStepCounts();
    for (const { value: run, seed } of generateSamples(arbitraryCreditRun(1, scriptLength))) {
      const problems = await playRun(run, counts);
      if (problems.length > 0)
        throw new Error(`SEED=${seed}: ${inspect(problems.slice(0, 3), { depth: 8, breakLength: 140 })}`);
      if (isFull) process.stdout.write(`${counts.describe()}\n`);
      if (counts.getTotal() >= stepCount) return;
    }
  }, 43_200_000);
});

/** The response to a request with an idempotency key: a change, or the refusal with the balance. */
type Answer = CreditEntry | { readonly refusal: unknown };

interface Request {
  readonly user: string;
  readonly answer: Answer;
  send(kind: string): Promise<Answer | undefined>;
}

/** What the steps of a run have done. */
interface Played {
  readonly requests: Request[];
  readonly holds: { readonly user: string; readonly holdId: string }[];
  readonly merges: { readonly from: string; readonly to: string; readonly mergeId: string }[];
  readonly erased: Set<string>;
  /** Customers whose purchases others have claimed. */
  readonly shared: Set<string>;
  /** Requests whose repetition had another response. */
  readonly contradictions: object[];
}

const key = { id: 'key', name: 'alice' };

/** Plays a run in its own app and an empty table. Returns the contradictions. */
async function playRun(run: CreditRun, counts: StepCounts): Promise<object[]> {
  const { histories, accountSettings, deliveries, clockAdvances } = run.purchases;
  await service.resetStores();
  await emptyTestTable(tableName);
  for (const platform of ownershipPlatforms) {
    const { failedPayments, listLength } = accountSettings;
    await service.changeAccount(platform, { listLength, ...(platform.includes('processor_a') && { failedPayments }) });
  }
  const keys = await service.createApp(ownershipPlatforms, {}, createUniqueName());
  await changeSettings(getService(), keys.appName, { strategy: 'last', creditFloor: run.floor });
  await saveCatalogue(getService(), keys.appName, buildCreditCatalogue());
  router.routeTo([keys.appName]);
  const owned = await Promise.all(histories.map(async (history) => await startOwnership(history, service)));
  const played: Played = {
    requests: [],
    holds: [],
    merges: [],
    erased: new Set(),
    shared: new Set(),
    contradictions: [],
  };
  const attempt = createAttempt({ ...router.service, ...queues }, run.crashRate, counts);
  const play = createPlayer({ keys, run, owned, played, attempt, counts });
  for (const purchase of owned) await play({ type: 'validate', purchase: owned.indexOf(purchase), user: undefined });
  const rounds = deliveries.length;
  const stepsOfRound = Math.ceil(run.steps.length / rounds);
  for (let round = 0; round < rounds; round++) {
    await playSteps(run.steps.slice(round * stepsOfRound, (round + 1) * stepsOfRound), play);
    await Promise.all(owned.map(async (purchase) => await purchase.act(round)));
    const days = Math.round(Number(/\d+/.exec(clockAdvances[round] ?? '')) % 13);
    await advance(days * dayMs, async () => await deliver(keys, attempt, deliveries[round]));
    await synchronize(keys, attempt);
  }
  await pMap(played.requests.keys(), async (request) => await play({ type: 'repeat', request }), { concurrency });
  const complete = createAttempt({ ...router.service, ...queues }, 0, counts);
  // Longer than the lease of a due item that a crash has interrupted.
  await advance(11 * minuteMs, async () => await deliver(keys, complete));
  await synchronize(keys, complete);
  service.freezeClock();
  await synchronize(keys, complete);
  counts.countOther('runs');
  counts.countOther('purchases', owned.length);
  const rows = await readRows(keys, owned, played);
  router.routeTo([]);
  return [...played.contradictions, ...recountRows('recount-credits.py', { ...rows, floor: run.floor })];
}

/**
 * Plays the steps, some at the same time. An erasure is alone: a customer who uses the app is not erased. So is a wait,
 * so that no holds end between the reading of the clock and a request.
 */
async function playSteps(steps: readonly CreditStep[], play: (step: CreditStep) => Promise<void>): Promise<void> {
  const isAlone = ({ type }: CreditStep): boolean => type === 'erase' || type === 'wait';
  let batch: CreditStep[] = [];
  for (const step of [...steps, undefined]) {
    if (step && !isAlone(step)) {
      batch.push(step);
      continue;
    }
    await pMap(batch, play, { concurrency });
    batch = [];
    if (step) await play(step);
  }
}

interface PlayerContext {
  readonly keys: IssuedApiKeys;
  readonly run: CreditRun;
  readonly owned: readonly OwnedPurchase[];
  readonly played: Played;
  readonly attempt: Attempt;
  readonly counts: StepCounts;
}

/** Returns a function that plays a step. */
function createPlayer({
  keys,
  run,
  owned,
  played: { requests, holds, merges, erased, shared, contradictions },
  attempt,
  counts,
}: PlayerContext): (step: CreditStep) => Promise<void> {
  const { appName } = keys;
  const users = owned.map(({ username }) => username);
  const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length];
  const app = { name: appName, strategy: 'last' } as const;
  /** Sends a request, and records its response for repetitions. */
  const request = async (
    kind: string,
    user: string,
    change: (context: CreditContext, service: Service) => Promise<CreditEntry>,
  ) => {
    // The emulated merchant of Braintree is in the sandbox.
    const isSandbox = owned.some(({ username, isSandbox: isOfSandbox }) => username === user && isOfSandbox);
    const context = { appName, username: user, isSandbox, key };
    const send: Request['send'] = async (sent) =>
      await attempt(sent, async (used) => await answerOf(change(context, used)));
    const answer = await send(kind);
    if (answer) requests.push({ user, answer, send });
    if (!answer) counts.countOther('invalid requests');
    else if ('refusal' in answer) counts.countOther('refusals');
    return answer;
  };
  // Customers use the same keys, for example of a campaign, and can be merged.
  const keyCounts = new Map<string, number>();
  return async (step) => {
    const user = 'user' in step ? (pick(users, step.user ?? 0) ?? '') : '';
    const purchase = 'purchase' in step ? pick(owned, step.purchase) : undefined;
    const rows = async () => (await listPurchaseRows(keys)).map(({ purchaseId }) => String(purchaseId)).sort();
    const createRequest = () => {
      const keyCount = keyCounts.get(user) ?? 0;
      keyCounts.set(user, keyCount + 1);
      return { idempotencyKey: `key-${keyCount}`, reason: 'a test' };
    };
    switch (step.type) {
      case 'spend':
      case 'take': {
        const body = { ...createRequest(), ...step.units };
        const change = step.type === 'spend' ? spend : take;
        return void (await request(step.type, user, async (context, used) => await change(used, body, context)));
      }
      case 'spenders': {
        const bodies = Array.from({ length: 20 }, () => ({ ...createRequest(), ...step.units, amount: 1 }));
        await Promise.all(
          bodies.map(
            async (body) =>
              await request('concurrent spend', user, async (context, used) => await spend(used, body, context)),
          ),
        );
        return;
      }
      case 'give': {
        const until = step.days === undefined ? undefined : router.service.now() + step.days * dayMs;
        const body = { ...createRequest(), ...step.units, until };
        return void (await request(step.type, user, async (context, used) => await give(used, body, context)));
      }
      case 'hold': {
        const until = router.service.now() + step.minutes * minuteMs;
        const body = { ...createRequest(), ...step.units, hold: true, until };
        const answer = await request(step.type, user, async (context, used) => await spend(used, body, context));
        if (answer && 'holdId' in answer && answer.holdId) holds.push({ user, holdId: answer.holdId });
        return;
      }
      case 'end': {
        const hold = pick(holds, step.hold);
        if (!hold) return;
        const body = { holdId: hold.holdId, amount: step.amount };
        return void (await request(step.type, hold.user, async (context, used) => await endHold(used, body, context)));
      }
      case 'repeat': {
        const repeated = pick(requests, step.request);
        if (!repeated || erased.has(repeated.user)) return;
        const again = await repeated.send(step.type);
        if (!isDeepStrictEqual(again, repeated.answer))
          contradictions.push({ problem: 'a repetition has another answer', first: repeated.answer, again });
        return;
      }
      case 'merge': {
        const [from, to] = [pick(users, step.from) ?? '', pick(users, step.to) ?? ''];
        // Nothing of an erased customer is merged.
        if (from === to || erased.has(from)) return;
        const { mergeId, aliases } = await attempt(
          step.type,
          async (used) => await mergeCustomers(used, app, { from, to, key }),
        );
        // The erasure of a customer also erases the customers who were merged into it.
        if (aliases > 0) merges.push({ from, to, mergeId });
        return;
      }
      case 'reverse': {
        const merge = pick(merges, step.merge);
        if (merge && ![merge.from, merge.to].some((name) => erased.has(name)))
          await attempt(step.type, async (used) => await reverseMerge(used, app, { ...merge, key }));
        return;
      }
      case 'erase': {
        if (!run.erases) return;
        const options = { wait: async () => {}, waitMs: 0 };
        const stored = await getApp(router.service, appName);
        await attempt(step.type, async (used) => await eraseCustomer(used, stored, user, options));
        erased.add(user);
        return;
      }
      case 'settle':
      case 'refresh': {
        const purchaseId = pick(await rows(), step.purchase);
        if (purchaseId === undefined) return;
        if (step.type === 'refresh')
          await attempt(step.type, async (used) => await refreshPurchase(used, { appName, purchaseId }));
        return await attempt('settle', async (used) => await settleCredits(used, appName, { purchaseId }));
      }
      case 'validate': {
        const evidence = await purchase?.getEvidence();
        const claimer = step.user === undefined ? {} : { applicationUsername: user };
        if (purchase && step.user !== undefined) shared.add(purchase.username);
        const body = { ...evidence, additionalData: { ...evidence?.additionalData, ...claimer } };
        await attempt(step.type, async (used) => await validate(used, keys, body));
        return;
      }
      case 'wait':
        await advance(step.minutes * minuteMs, async () => {});
        await attempt('due items', async (used) => await enqueueDueItems(used, () => minuteMs));
    }
  };
}

const containers = new AsyncLocalStorage<Container>();

/** Sends a validation to the handler of an instance with this service. */
const validate = async (used: Service, keys: IssuedApiKeys, body: object) =>
  await containers.run(
    { clientOptions: clientOptions(), service: used },
    async () => await service.validate(keys, body),
  );

/** Returns undefined for a request that is not recorded, because it is invalid now or needs a hold that has ended. */
async function answerOf(change: Promise<CreditEntry>): Promise<Answer | undefined> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.retryable) throw error;
    return 'balance' in error.data ? { refusal: error.data } : undefined;
  }
}

/**
 * Moves the clock to each transition of the stores: the signature of a notification is valid for minutes. Also to every
 * fifth day: the Microsoft Store deletes an event after seven days, and the service polls it at least every hour.
 */
async function advance(durationMs: number, deliverPosted: () => Promise<void>): Promise<void> {
  const end = router.service.now() + durationMs;
  do {
    const { nextDueTime } = await service.callControl('/clock');
    const transition = nextDueTime === undefined ? end : Date.parse(nextDueTime) + secondMs;
    const target = Math.min(end, transition, router.service.now() + 5 * dayMs);
    const seconds = Math.max(1, Math.ceil((target - router.service.now()) / secondMs));
    await service.callControl('/clock', { advance: `PT${seconds}S` });
    await deliverPosted();
  } while (router.service.now() < end);
}

/** Delivers the notifications. A late one does not arrive here, like a lost one: the next refresh replaces both. */
async function deliver({ appName }: IssuedApiKeys, attempt: Attempt, delivery: Delivery = 'punctual'): Promise<void> {
  await router.waitUntilPosted();
  await router.poll(appName);
  const posted = router.take(appName);
  const isPolled = ({ platform }: QueuedNotification): boolean => platform === 'store_c';
  const byDelivery: Readonly<Record<Delivery, readonly QueuedNotification[]>> = {
    punctual: posted,
    late: posted.filter(isPolled),
    lost: posted.filter(isPolled),
    doubled: [...posted, ...posted],
    reversed: posted.toReversed(),
  };
  for (const notification of byDelivery[delivery])
    await attempt('notification', async (used) => await processNotification(used, notification));
}

/** Refreshes the purchases as their schedule does, settles them as the stream does, and ends what is due. */
async function synchronize(keys: IssuedApiKeys, attempt: Attempt): Promise<void> {
  const { appName } = keys;
  for (const row of await listPurchaseRows(keys)) {
    const purchaseId = String(row.purchaseId);
    await attempt('refresh', async (used) => await refreshPurchase(used, { appName, purchaseId }));
    await attempt('settle', async (used) => await settleCredits(used, appName, { purchaseId }));
  }
  await attempt('due items', async (used) => await enqueueDueItems(used, () => minuteMs));
}

/** Reads the rows that the recount needs. */
async function readRows(keys: IssuedApiKeys, owned: readonly OwnedPurchase[], { merges, erased, shared }: Played) {
  const { appName } = keys;
  const now = router.service.now();
  const accounts: CreditAccount[] = [];
  for await (const batch of scanAccounts(router.service, appName)) accounts.push(...batch.map(({ read }) => read()));
  const history: object[] = [];
  for (const { username: applicationUsername, isSandbox } of accounts) {
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const query = { sandbox: `${isSandbox}`, limit: '100', ...(cursor && { cursor }) };
      const { status, body } = await callWithSecretKey(listCreditHistory, keys, {
        params: { applicationUsername },
        query,
      });
      expect(status).toBe(200);
      history.push(...body.rows.map((row: object) => ({ ...row, applicationUsername, isSandbox })));
      cursor = body.nextCursor;
    }
  }
  const stored = await Promise.all(
    (await listPurchaseRows(keys)).map(
      async ({ purchaseId }) => await findStoredPurchase(router.service, appName, String(purchaseId)),
    ),
  );
  const known = stored.filter((purchase) => purchase !== undefined);
  const sold = owned.filter(({ history: { type } }) => type === 'consumable');
  const summaries = await Promise.all(
    sold.map(async (purchase) => ({ platform: purchase.platform, summary: await purchase.getSummary() })),
  );
  return {
    now: new Date(now).toISOString(),
    units: givenUnits,
    credits: accounts.flatMap((account) => toExportedCredits(account, now)),
    history,
    purchases: known.map((purchase) => toExportedPurchase(purchase, now)),
    transactions: known.flatMap(({ state: { purchase, transactions } }) =>
      transactions.map(({ transaction }) => toExportedTransaction(transaction, purchase, now)),
    ),
    oneTime: Object.fromEntries(
      summaries.flatMap(({ platform, summary }) => {
        const ledger = readLedger(summary);
        return ledger ? [[`${platform}:${summary.id}`, { ...ledger, quantity: summary.quantity ?? 1 }]] : [];
      }),
    ),
    merges: merges.map(({ from, to }) => [from, to]),
    erased: [...erased],
    shared: [...shared],
  };
}
