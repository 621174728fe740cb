import type { Forward } from '../apps/forward.ts';
import type { Cipher } from '../shared/cipher.ts';
import type { MessageQueue } from '../shared/message-queue.ts';
import { toShortDigest } from '../shared/short-digest.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { WebhookDelivery } from '../webhooks/delivery.ts';
import type { DeliveryRepository } from '../webhooks/delivery-repository.ts';
import { toChainEntry } from '../webhooks/forward-order.ts';
import type { ForwardChainRepository } from './forward-chain-repository.ts';
import type { ForwardMessage, StoreMessage } from './forward-message.ts';

export interface CreateForwardDeps {
  readonly appCache: { findForwards(appName: string): Promise<readonly Forward[] | undefined> };
  readonly chains: ForwardChainRepository;
  readonly cipher: Cipher;
  readonly deliveries: Pick<DeliveryRepository, 'createIfAbsent' | 'find'>;
  readonly forwardQueue: MessageQueue<ForwardMessage>;
  now(): EpochMillis;
}

const toDigest = (...parts: readonly string[]): string => toShortDigest(JSON.stringify(parts));

/** The content is encrypted, because the request of most stores contains a credential. */
export const contentContext = (appName: string): string => `${appName}/forward`;

/** Creates and enqueues a delivery of the message for each forward. Idempotent: a repetition has the same ids. */
export async function createForwards(message: StoreMessage, deps: CreateForwardDeps): Promise<void> {
  const { appName, platform } = message;
  const forwards = (await deps.appCache.findForwards(appName)) ?? [];
  for (const forward of forwards.filter(({ platforms }) => platforms?.includes(platform) ?? true)) {
    const delivery = await findOrCreate(await buildForward(message, forward, deps), deps);
    // A message that another server sends back can arrive after its delivery has ended.
    if (delivery.state !== 'pending') continue;
    const { deliveryId, failedAttempts } = delivery;
    const entry = toChainEntry(delivery);
    if (entry) await deps.chains.add(entry, deps.now());
    await deps.forwardQueue.send([{ appName, deliveryId, failedAttempts }], { group: appName });
  }
}

/** Returns the delivery of the first receipt of the message. */
async function findOrCreate(
  delivery: WebhookDelivery,
  { deliveries }: Pick<CreateForwardDeps, 'deliveries'>,
): Promise<WebhookDelivery> {
  if (await deliveries.createIfAbsent(delivery)) return delivery;
  return (await deliveries.find(delivery.appName, delivery.deliveryId)) ?? delivery;
}

const toChain = ({ platform, order }: StoreMessage, { url }: Forward): string =>
  toDigest('chain', platform, order, url);

async function buildForward(
  message: StoreMessage,
  forward: Forward,
  { cipher }: Pick<CreateForwardDeps, 'cipher'>,
): Promise<WebhookDelivery> {
  const { appName, platform, key, occurredAt, receivedAt, content } = message;
  const { authorization: _authorization, ...headers } = content.headers;
  const sent = forward.includesAuthorization ? content : { ...content, headers };
  return {
    appName,
    deliveryId: toDigest('forward', platform, key, forward.url),
    type: 'forward',
    url: forward.url,
    notification: { id: toDigest(platform, key), reason: 'OTHER', date: occurredAt },
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
