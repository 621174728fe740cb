import type { WebhookSender } from '../apps/app.ts';
import type { Deps } from '../deps.ts';
import type { ExternalCall } from '../events/event.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { ServiceError } from '../shared/errors.ts';
import { createRedactor } from '../shared/redaction/redactor.ts';
import type { WebhookDelivery } from './delivery.ts';
import { describeFailure } from './delivery-transitions.ts';
import type { PostOutcome } from './guarded-post.ts';
import { buildWebhookBody, buildWebhookHeaders } from './webhook-request.ts';

/** Sends the webhook once, with what the user owns now, and records the event of it. */
export async function attemptDelivery(
  delivery: WebhookDelivery,
  sender: WebhookSender,
  deps: Deps,
): Promise<PostOutcome> {
  const { appName, deliveryId, username, url } = delivery;
  const { secretKey, signingSecret } = sender;
  const { webhookSettings, vocabulary } = sender.app;
  if (!signingSecret) throw new ServiceError('InternalError', 'The application has no signing secret.');
  const owned = username === undefined ? [] : await deps.purchases.listByUser(appName, username);
  const startedAt = deps.now();
  const body = buildWebhookBody(delivery, {
    ...(webhookSettings?.includesPassword && { password: secretKey }),
    purchases: owned,
    tongue: vocabulary,
    now: startedAt,
  });
  const headers = buildWebhookHeaders({ deliveryId, body }, { secret: signingSecret, now: startedAt });
  const outcome = await deps.postWebhook({ url, headers, body });
  const scrub = createRedactor([secretKey, signingSecret, signingSecret.replace(/^whsec_/, '')]);
  const call = toExternalCall(url, outcome, { startedAt, endedAt: deps.now() });
  await recordAttemptEvent(
    delivery,
    { posted: outcome, call, bodyExcerpt: 'status' in outcome ? scrub(outcome.bodyExcerpt) : '' },
    deps,
  );
  return outcome;
}

interface AttemptResult {
  readonly posted: PostOutcome;
  readonly call: ExternalCall;
  /** Of the answer, without secrets. */
  readonly bodyExcerpt: string;
}

/** The event is found by the notification's id, as by that of a request. */
async function recordAttemptEvent(
  delivery: WebhookDelivery,
  { posted: outcome, call, bodyExcerpt }: AttemptResult,
  deps: Deps,
): Promise<void> {
  const { appName, type, username, notification, failedAttempts } = delivery;
  const { id, reason, productId, purchaseId, transactionId } = notification;
  const date = new Date(notification.date).toISOString();
  const recorder = createEventRecorder({ type: 'webhook.app.called', date: call.timing.startedAt, reqId: id });
  if (username !== undefined) recorder.setUser(username);
  if (purchaseId !== undefined) recorder.addTag(purchaseId, '_P');
  const subject = { ...(productId && { productId }), ...(purchaseId && { purchaseId }) };
  recorder.addContent({
    notifications: [{ id, reason, date, ...subject, ...(transactionId && { transactionId }) }],
    ...(purchaseId && { purchases: [subject] }),
  });
  recorder.addExternalCall(call);
  const problem = describeFailure(outcome);
  const failure = problem === undefined ? undefined : new ServiceError('ConnectionFailed', problem);
  const response = 'status' in outcome ? { status: outcome.status, message: bodyExcerpt } : {};
  const request = { route: 'webhook', type, attempt: failedAttempts + 1 };
  await recordWorkerEvent(appName, { recorder, request, response, ...(failure && { failure }) }, deps);
}

function toExternalCall(url: string, outcome: PostOutcome, timing: ExternalCall['timing']): ExternalCall {
  const { host, origin, pathname } = URL.canParse(url) ? new URL(url) : { host: '', origin: '', pathname: '' };
  // What is long in a path may be a token.
  const path = pathname.replace(/[^/]{25,}/g, '…');
  const call = { type: host, url: `${origin}${path}`, method: 'POST', timing };
  return 'status' in outcome
    ? { ...call, response: { status: outcome.status, size: outcome.bodyExcerpt.length } }
    : { ...call, error: { message: outcome.message } };
}
