import type { WebhookSender } from '../apps/app.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import type { EventRepository } from '../events/event-repository.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { toAttemptEventId } from '../foundation/event-id.ts';
import type { Cipher } from '../shared/cipher.ts';
import { ServiceError } from '../shared/errors.ts';
import { parseJson } from '../shared/parse.ts';
import type { EpochMillis } from '../shared/time.ts';
import { type DeliveryAttempt, toExternalCall } from '../webhooks/attempt-delivery.ts';
import type { WebhookDelivery } from '../webhooks/delivery.ts';
import { describeFailure } from '../webhooks/delivery-transitions.ts';
import type { PostWebhook } from '../webhooks/post-webhook.ts';
import { buildWebhookHeaders } from '../webhooks/webhook-request.ts';
import { contentContext } from './create-forwards.ts';
import { ForwardContent } from './forward-message.ts';

export interface AttemptForwardDeps {
  readonly cipher: Cipher;
  readonly events: EventRepository;
  now(): EpochMillis;
  /** Time of the machine, which signatures contain. */
  getWallTime(): EpochMillis;
  readonly postWebhook: PostWebhook;
}

/** Sends the unchanged request of a store with the signature of webhooks, and records an event. */
export async function attemptForward(
  delivery: WebhookDelivery,
  { signingSecret }: WebhookSender,
  deps: AttemptForwardDeps,
): Promise<DeliveryAttempt> {
  const { appName, deliveryId, url, forward, notification, failedAttempts } = delivery;
  if (!forward) throw new ServiceError('InternalError', 'The content of the forward is missing.');
  const text = await deps.cipher.decrypt(forward.content, contentContext(appName));
  const content = parseJson(ForwardContent, text, 'DatabaseError');
  const startedAt = deps.now();
  const signed =
    signingSecret !== undefined &&
    buildWebhookHeaders({ deliveryId, body: content.body }, { secret: signingSecret, sentAt: deps.getWallTime() });
  const headers = { 'webhook-id': deliveryId, ...signed, ...content.headers };
  const outcome = await deps.postWebhook({ url, headers, body: content.body });
  const call = toExternalCall(url, outcome, { startedAt, endedAt: deps.now() });
  const eventId = toAttemptEventId(deliveryId, startedAt);
  const recorder = createEventRecorder({
    type: 'webhook.app.called',
    date: startedAt,
    reqId: notification.id,
    eventId,
  });
  recorder.addExternalCall(call);
  const problem = describeFailure(outcome);
  const failure = problem === undefined ? undefined : new ServiceError('ConnectionFailed', problem);
  const response = 'status' in outcome ? { status: outcome.status } : {};
  const params = { type: 'forward', attempt: failedAttempts + 1, platform: forward.platform };
  await recordWorkerEvent(
    appName,
    { recorder, request: { route: 'forward', params }, response, ...(failure && { failure }) },
    deps,
  );
  return { outcome, startedAt };
}
