import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { changeSettings } from '../../lib/apps/manage-apps.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { runDueRefundStep } from '../../lib/refunds/answer-refund-request.ts';
import { answerRefundRequest, listRefundRequests, setRefundConsent } from '../../lib/refunds/contract.ts';
import { callWithSecretKey } from '../../testing/call.ts';
import { type FailingCalls, failureModes, interceptCalls } from '../../testing/failing-calls.ts';
import { createUniqueName } from '../../testing/given.ts';
import { type NotificationRouter, startNotificationRouter } from '../../testing/notification-router.ts';
import { buyCoins, getEmulatedRequest, refundPlatforms, runDueSteps } from '../../testing/refund-requests.ts';
import { sampleRuns } from '../../testing/sample.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

let service: TestService;
let router: NotificationRouter;
let calls: FailingCalls;
beforeAll(async () => {
  service = await startTestService('claimcheck-test-refund-histories');
  router = await startNotificationRouter(service, refundPlatforms);
  calls = interceptCalls();
  // The service logs the failures.
  for (const method of ['error', 'warn'] as const) jest.spyOn(console, method).mockImplementation(() => {});
});
afterAll(async () => {
  jest.restoreAllMocks();
  calls?.restore();
  await router?.close();
  await service?.close();
});

const hoursToReply = { store_a: 12, store_b: 24 } as const;

/** Faults of a worker. Two of them leave time for a third attempt before the deadline. */
const maxFaults = 2;

const Fault = fc.record({
  /** Attempt that fails, from the first one at the time of the policy. */
  attempt: fc.integer({ min: 0, max: 2 }),
  callNumber: fc.integer({ min: 1, max: 25 }),
  mode: fc.constantFrom('store down' as const, ...failureModes),
});
const History = fc.record({
  platform: fc.constantFrom(...refundPlatforms),
  policy: fc.constantFrom('silent' as const, 'answer' as const),
  consents: fc.boolean(),
  /** Hours by which the notification is late. */
  lateHours: fc.integer({ min: 0, max: 11 }),
  isRepeated: fc.boolean(),
  /** The attempt at which the app replies in the time of the policy, if it does. */
  reply: fc.option(fc.integer({ min: 0, max: 3 })),
  faults: fc.array(Fault, { maxLength: maxFaults }),
});

it('replies once to each request, always by policy and never without consent, in three days of faults', async () => {
  const run = async (histories: readonly History[]) => {
    for (const history of histories) await live(history);
  };
  await fc.assert(fc.asyncProperty(fc.array(History, { minLength: 3, maxLength: 3 }), run), {
    ...sampleRuns({ sample: 4, full: 60 }),
  });
}, 600_000);

type History = typeof History extends fc.Arbitrary<infer T> ? T : never;

async function live({ platform, policy, consents, lateHours, isRepeated, reply, faults }: History): Promise<void> {
  const keys = await service.createApp(refundPlatforms);
  const { appName } = keys;
  router.routeTo([appName]);
  await changeSettings(getService(), appName, { refundPolicy: policy });
  const applicationUsername = createUniqueName('ann');
  const id = await buyCoins(service, keys, { platform, applicationUsername });
  router.take(appName);
  if (consents) {
    const consent = { params: { applicationUsername }, body: { consented: true } };
    await callWithSecretKey(setRefundConsent, keys, consent);
  }
  await service.callControl(`/purchases/${id}/request-refund`, {});
  await router.waitUntilPosted();
  const notifications = router.take(appName);
  await advance(`PT${lateHours}H`);
  await router.process(notifications);
  if (isRepeated) await router.process(notifications);
  await advance(`PT${hoursToReply[platform] - lateHours - 1}H`);
  await advance('PT31M');
  for (let attempt = 0; attempt < 6; attempt++) {
    const fault = faults.find((candidate) => candidate.attempt === attempt);
    if (fault?.mode === 'store down') await service.callControl('/faults', { platform, fault: 'down', times: 5 });
    else if (fault) calls.failAt(fault.callNumber, fault.mode);
    await runDueSteps(keys, async (...step) => await runDueRefundStep(...step).catch(() => {})).catch(() => {});
    calls.failAt();
    await service.clearFaults();
    if (reply === attempt) await replyAs(keys, consents);
    await advance('PT4M40S');
  }
  const { answer, ignoredAnswers } = await getEmulatedRequest(service, id);
  // A statement is sent again if the service crashed before it stored the result. The store ignores it.
  for (const ignored of ignoredAnswers) expect(ignored.body).toEqual(answer?.body);
  const isAllowed = consents || platform === 'store_b';
  if (!isAllowed) expect(answer).toBeUndefined();
  if (isAllowed && (policy === 'answer' || reply !== null)) expect(answer).toBeDefined();
  if (policy === 'silent' && reply === null) expect(answer).toBeUndefined();
  await advance('P1D');
}

async function advance(period: string): Promise<void> {
  if (period !== 'PT0H') await service.callControl('/clock', { advance: period });
}

async function replyAs(keys: Parameters<typeof runDueSteps>[0] & { secretKey: string }, consents: boolean) {
  const { body } = await callWithSecretKey(listRefundRequests, keys);
  const params = { id: body.rows[0].id };
  const statement = { preference: 'decline', customerConsented: consents };
  await callWithSecretKey(answerRefundRequest, keys, { params, body: statement });
}
