import { answered } from '../stores/processor-a/client.ts';
import type { Look } from '../stores/processor-a/looks.ts';
import { readSession, readSubscription } from '../stores/processor-a/reads.ts';
import { bareProcessorId } from './offer-id.ts';
import { invalidToken } from './selling.ts';

/**
 * Checks that a session or subscription is the buyer's, and gives the subscription that it stands for, if any. Throws
 * `Forbidden` for another buyer's, and for what the token cannot be for.
 */
export async function ownSubscriptionId(id: string, buyer: string, { stripe }: Look): Promise<string | undefined> {
  const own = bareProcessorId(id);
  if (own.startsWith('cs_')) {
    const session = await answered(() => readSession(stripe, own));
    if (session.customer !== buyer) throw invalidToken();
    return session.subscription ?? undefined;
  }
  if (!own.startsWith('sub_')) throw invalidToken();
  const { customer } = await answered(() => readSubscription(stripe, own));
  if (customer !== buyer) throw invalidToken();
  return own;
}
