import type { ForwardMessage } from '../lib/forwards/forward-message.ts';
import { createMessageQueue } from '../lib/queue/message-queue.ts';
import type { RefreshMessage } from '../lib/refresh/refresh-message.ts';
import { once } from '../lib/shared/once.ts';
import type { StreamFailure } from '../lib/shared/stream-failure.ts';
import type { QueuedNotification } from '../lib/store-notifications/queued-notification.ts';
import type { WebhookMessage } from '../lib/webhooks/webhook-message.ts';
import { clientOptions, requireVariable } from './environment.ts';

export const notificationQueue = once(() =>
  createMessageQueue<QueuedNotification>(() => requireVariable('NOTIFICATIONS_QUEUE_URL'), clientOptions()),
);
export const refreshQueue = once(() =>
  createMessageQueue<RefreshMessage>(() => requireVariable('REFRESHES_QUEUE_URL'), clientOptions()),
);
export const forwardQueue = once(() =>
  createMessageQueue<ForwardMessage>(() => requireVariable('FORWARDS_QUEUE_URL'), clientOptions()),
);
export const webhookQueue = once(() =>
  createMessageQueue<WebhookMessage>(() => requireVariable('WEBHOOKS_QUEUE_URL'), clientOptions()),
);
export const streamFailures = once(() =>
  createMessageQueue<StreamFailure>(() => requireVariable('STREAM_FAILURES_QUEUE_URL'), clientOptions()),
);
