import type { WebhookSender } from '../db/apps.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import type { ExternalCall } from '../events/event.ts';
import { newRecorder } from '../events/recorder.ts';
import { scrubOf } from '../events/scrub.ts';
import { recordWork } from '../events/work.ts';
import { webhookBody, webhookHeaders } from './body.ts';
import type { Delivery } from './delivery.ts';
import { failureOf } from './outcome.ts';
import type { Posted } from './post.ts';

/** Sends the webhook once, with what the user owns now, and records the event of it. */
export async function attemptOf(delivery: Delivery, sender: WebhookSender, deps: Deps): Promise<Posted> {
  const { app, deliveryId, username, url } = delivery;
  const { secretKey, signingSecret } = sender;
  const { webhook, vocabulary } = sender.app;
  if (!signingSecret) throw new ServiceError('InternalError', 'The application has no signing secret.');
  const owned = username === undefined ? [] : await deps.purchases.ownedBy(app, username);
  const startedAt = deps.now();
  const body = webhookBody(delivery, {
    ...(webhook?.sendsPassword && { password: secretKey }),
    purchases: owned,
    tongue: vocabulary,
    now: startedAt,
  });
  const headers = webhookHeaders({ deliveryId, body }, { secret: signingSecret, now: startedAt });
  const posted = await deps.post({ url, headers, body });
  const scrub = scrubOf([secretKey, signingSecret, signingSecret.replace(/^whsec_/, '')]);
  const call = callOf(url, posted, { startedAt, endedAt: deps.now() });
  await record(delivery, { posted, call, start: 'status' in posted ? scrub(posted.start) : '' }, deps);
  return posted;
}

interface Attempted {
  readonly posted: Posted;
  readonly call: ExternalCall;
  /** Of the answer, without secrets. */
  readonly start: string;
}

/** The event is found by the notification's id, as by that of a request. */
async function record(delivery: Delivery, { posted, call, start }: Attempted, deps: Deps): Promise<void> {
  const { app, type, username, notification, attempts } = delivery;
  const { id, reason, productId, purchaseId, transactionId } = notification;
  const date = new Date(notification.date).toISOString();
  const recorder = newRecorder({ type: 'webhook.app.called', date: call.timing.startedAt, reqId: id });
  if (username !== undefined) recorder.user(username);
  if (purchaseId !== undefined) recorder.tag(purchaseId, '_P');
  const concerned = { ...(productId && { productId }), ...(purchaseId && { purchaseId }) };
  recorder.note({
    notifications: [{ id, reason, date, ...concerned, ...(transactionId && { transactionId }) }],
    ...(purchaseId && { purchases: [concerned] }),
  });
  recorder.externalCall(call);
  const problem = failureOf(posted);
  const failure = problem === undefined ? undefined : new ServiceError('ConnectionFailed', problem);
  const response = 'status' in posted ? { status: posted.status, message: start } : {};
  const request = { route: 'webhook', type, attempt: attempts + 1 };
  await recordWork(app, { recorder, request, response, ...(failure && { failure }) }, deps);
}

function callOf(url: string, posted: Posted, timing: ExternalCall['timing']): ExternalCall {
  const { host, origin, pathname } = URL.canParse(url) ? new URL(url) : { host: '', origin: '', pathname: '' };
  // What is long in a path may be a token.
  const path = pathname.replace(/[^/]{25,}/g, '…');
  const call = { type: host, url: `${origin}${path}`, method: 'POST', timing };
  return 'status' in posted
    ? { ...call, response: { status: posted.status, size: posted.start.length } }
    : { ...call, error: { message: posted.message } };
}
