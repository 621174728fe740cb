import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import { NotificationReason } from '../../notifications/reasons.ts';
import { parse } from '../../parse.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Asking, Noticed, StoreMessage } from '../store.ts';
import { openAccount } from './account.ts';
import { answered } from './client.ts';
import { lookAt } from './looks.ts';
import type { ProcessorAPlatform } from './origin.ts';

const Content = v.object({
  reason: NotificationReason,
  about: v.exactOptional(v.string()),
  pricesChanged: v.exactOptional(v.literal(true)),
});

/** What an event is about, as the processor shows it now: events come in any order, and are older than that. */
export async function noticed(
  { content }: StoreMessage,
  { platform, asking }: { readonly platform: ProcessorAPlatform; readonly asking: Asking },
): Promise<Noticed> {
  const { reason, about, pricesChanged } = parse(Content, content, 'InternalError');
  const seen = about === undefined ? undefined : await ownPurchase(about, { platform, asking });
  return { reason, observations: seen ? [seen] : [], ...(pricesChanged && { pricesChanged }) };
}

/** Undefined for what is no purchase, or another application's on the same account: its own endpoint hears of it. */
async function ownPurchase(
  id: string,
  { platform, asking }: { readonly platform: ProcessorAPlatform; readonly asking: Asking },
): Promise<Observation | undefined> {
  try {
    return await answered(async () => await lookAt(id, openAccount(platform, asking)));
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.code === 'InvalidPayload') return undefined;
    throw thrown;
  }
}
