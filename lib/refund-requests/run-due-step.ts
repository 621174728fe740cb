import type { App } from '../apps/app.ts';
import { ServiceError } from '../shared/errors.ts';
import { logError } from '../shared/log.ts';
import type { AnswerDeps } from './answer-refund-request.ts';
import { gatherFacts } from './gather-facts.ts';
import { prepareAnswer, requiresConsent } from './prepare-answer.ts';
import { getState, isUnsent, policyLeadMs } from './refund-request.ts';
import type { RefundRequest } from './refund-request-repository.ts';
import { sendAnswerOnSchedule, sendLeaseMs } from './send-answer.ts';

/**
 * Takes the due step of a refund request: the statement by the policy of the app, or another attempt to send one.
 * Idempotent.
 */
export async function runDueStep(appName: string, requestId: string, deps: AnswerDeps): Promise<void> {
  const request = await deps.refundRequests.find(appName, requestId);
  if (request?.dueAt === undefined) return;
  const app = await deps.appCache.find(appName);
  if (!app || app.deletedAt !== undefined || request.outcome) return await endSteps(appName, request, deps);
  if (!request.answer) return await applyPolicy(app, request, deps);
  if (!isUnsent(request)) return await endSteps(appName, request, deps);
  // A concurrent request is sending it.
  if (request.dueAt > deps.now()) return;
  if (request.deadline <= deps.now()) return await reportLost(appName, request, deps);
  await sendAnswerOnSchedule(appName, request, deps);
}

async function applyPolicy(app: App, request: RefundRequest, deps: AnswerDeps): Promise<void> {
  const now = deps.now();
  if (now < request.deadline - policyLeadMs) return;
  const isOpen = getState(request, now) === 'open' && request.rejection === undefined;
  if (app.refundPolicy !== 'answer' || !isOpen) return await endSteps(app.name, request, deps);
  const facts = await gatherFacts(app.name, request, { now, deps });
  const { why: _why, ...answer } = prepareAnswer(request.platform, facts);
  if (requiresConsent(request.platform) && !answer.customerConsented) return await endSteps(app.name, request, deps);
  const stored = await deps.refundRequests.update(app.name, request.requestId, (current) => {
    if (current.answer || getState(current, now) !== 'open') return current;
    const author = { type: 'policy' } as const;
    return { ...current, answer: { ...answer, author, answeredAt: now, failedAttempts: 0 }, dueAt: now + sendLeaseMs };
  });
  if (stored?.answer?.author.type !== 'policy' || stored.answer.answeredAt !== now) return;
  await sendAnswerOnSchedule(app.name, stored, deps);
}

async function endSteps(
  appName: string,
  { requestId, version }: RefundRequest,
  { refundRequests }: Pick<AnswerDeps, 'refundRequests'>,
): Promise<void> {
  await refundRequests.update(appName, requestId, (current) => {
    if (current.version !== version || current.dueAt === undefined) return current;
    const { dueAt: _ended, ...rest } = current;
    return rest;
  });
}

/** Logs a statement that the store did not accept until the deadline, which an alarm counts. */
async function reportLost(appName: string, request: RefundRequest, deps: AnswerDeps): Promise<void> {
  const { requestId, answer } = request;
  const reason = answer?.failureReason ?? 'The statement about a refund was not sent before the deadline.';
  const failure = new ServiceError('ConnectionFailed', reason);
  logError({ worker: 'refresh-purchase', problem: 'RefundStatementLost', app: appName, requestId }, failure);
  await endSteps(appName, request, deps);
}
