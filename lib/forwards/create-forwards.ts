import { toShortDigest } from '../foundation/key.ts';
import type { Service } from '../foundation/service.ts';
import type { WebhookDelivery } from '../webhooks/delivery.ts';
import { createDeliveryIfAbsent, findDelivery } from '../webhooks/delivery-table.ts';
import { addToForwardChain, toChainEntry } from '../webhooks/forward-chain-table.ts';
import type { Forward } from './forward.ts';
import type { StoreMessage } from './forward-message.ts';
import { findCachedForwards } from './forward-table.ts';

const deriveId = (...parts: readonly string[]): string => toShortDigest(JSON.stringify(parts));

/** The content is encrypted, because the request of most stores contains a credential. */
export const contentContext = (appName: string): string => `${appName}/forward`;

/** Creates and enqueues a delivery of the message for each forward. Idempotent: a repetition has the same ids. */
export async function createForwards(service: Service, message: StoreMessage): Promise<void> {
  const { appName, platform } = message;
  const forwards = (await findCachedForwards(service, appName)) ?? [];
  for (const forward of forwards.filter(({ platforms }) => platforms?.includes(platform) ?? true)) {
    const delivery = await findOrCreate(service, await buildForward(service, message, forward));
    // A message that another server sends back can arrive after its delivery has ended.
    if (delivery.state !== 'pending') continue;
    const { deliveryId, failedAttempts } = delivery;
    const entry = toChainEntry(delivery);
    if (entry) await addToForwardChain(service, entry, service.now());
    await service.forwardQueue.send([{ appName, deliveryId, failedAttempts }], { group: appName });
  }
}

/** Returns the delivery of the first receipt of the message. */
async function findOrCreate(service: Service, delivery: WebhookDelivery): Promise<WebhookDelivery> {
  if (await createDeliveryIfAbsent(service, delivery)) return delivery;
  return (await findDelivery(service, delivery.appName, delivery.deliveryId)) ?? delivery;
}

const toChain = ({ platform, order }: StoreMessage, { url }: Forward): string =>
  deriveId('chain', platform, order, url);

async function buildForward({ cipher }: Service, message: StoreMessage, forward: Forward): Promise<WebhookDelivery> {
  const { appName, platform, key, occurredAt, receivedAt, eventId, content } = message;
  const { authorization: _authorization, ...headers } = content.headers;
  const sent = forward.includesAuthorization ? content : { ...content, headers };
  return {
    appName,
    deliveryId: deriveId('forward', platform, key, forward.url),
    type: 'forward',
    url: forward.url,
    notification: { id: deriveId(platform, key), reason: 'OTHER', date: occurredAt },
    ...(eventId !== undefined && { eventId }),
    state: 'pending',
    failedAttempts: 0,
    createdAt: receivedAt,
    forward: {
      platform,
      chain: toChain(message, forward),
      receivedAt,
      content: await cipher.encrypt(JSON.stringify(sent), contentContext(appName)),
    },
  };
}
