import type { WebhookSender } from '../apps/app.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import { recordWorkerEvent } from '../events/record-worker-event.ts';
import { ServiceError } from '../foundation/errors.ts';
import { toAttemptEventId } from '../foundation/event-id.ts';
import { getWallTime } from '../foundation/override-date.ts';
import { parseJson } from '../foundation/parse.ts';
import type { Service } from '../foundation/service.ts';
import { type DeliveryAttempt, toExternalCall } from '../webhooks/attempt-delivery.ts';
import { describeDelivery, type WebhookDelivery } from '../webhooks/delivery.ts';
import { describeFailure } from '../webhooks/delivery-transitions.ts';
import { buildWebhookHeaders, listSecrets } from '../webhooks/webhook-request.ts';
import { contentContext } from './create-forwards.ts';
import { ForwardContent } from './forward-message.ts';

/** Sends the unchanged request of a store with the signature of webhooks, and records an event. */
export async function attemptForward(
  service: Service,
  delivery: WebhookDelivery,
  sender: WebhookSender,
): Promise<DeliveryAttempt> {
  const { appName, deliveryId, url, forward, notification, failedAttempts } = delivery;
  if (!forward) throw new ServiceError('InternalError', 'The content of the forward is missing.');
  const text = await service.cipher.decrypt(forward.content, contentContext(appName));
  const content = parseJson(ForwardContent, text, 'DatabaseError');
  const startedAt = service.now();
  const secrets = listSecrets(sender);
  const signed =
    secrets.length > 0 && buildWebhookHeaders({ deliveryId, body: content.body }, { secrets, sentAt: getWallTime() });
  const headers = { 'webhook-id': deliveryId, ...signed, ...content.headers };
  const outcome = await service.postWebhook({ url, headers, body: content.body });
  const call = toExternalCall(url, outcome, { startedAt, endedAt: service.now() });
  const eventId = toAttemptEventId(deliveryId, startedAt);
  const recorder = createEventRecorder({
    type: 'webhook.app.called',
    date: startedAt,
    reqId: notification.id,
    eventId,
  });
  describeDelivery(recorder, delivery);
  recorder.addExternalCall(call);
  const problem = describeFailure(outcome);
  const failure = problem === undefined ? undefined : new ServiceError('ConnectionFailed', problem);
  const response = 'status' in outcome ? { status: outcome.status } : {};
  const params = { type: 'forward', attempt: failedAttempts + 1, platform: forward.platform };
  await recordWorkerEvent(service, appName, {
    recorder,
    request: { route: 'forward', params },
    response,
    causeId: delivery.eventId,
    ...(failure && { failure }),
  });
  return { outcome, startedAt };
}
