import { omitUndefined } from '../shared/omit-undefined.ts';
import { type Platform, platformTokens } from '../shared/platform.ts';
import type { RefundAnswer } from '../stores/refund-request.ts';
import type { RefundFacts } from './gather-facts.ts';

/** The statement that follows from the facts, and why. */
export interface PreparedAnswer extends RefundAnswer {
  readonly why: readonly string[];
}

/** Used part of a period from which the prepared statement declines a refund. */
const declinedShare = 50_000;
const fullShare = 100_000;

/** Whether the store accepts a statement only with the customer's consent. */
export const requiresConsent = (platform: Platform): boolean => platform === platformTokens.appStore;

/** Prepares the statement. It never prefers a refund: the app decides about that. */
export function prepareAnswer(platform: Platform, facts: RefundFacts): PreparedAnswer {
  const consumptionPercentage = facts.isConsumed ? fullShare : facts.usedShare;
  const isUsed = consumptionPercentage !== undefined && consumptionPercentage >= declinedShare;
  const isAppStore = platform === platformTokens.appStore;
  return {
    preference: facts.isDelivered && isUsed ? 'decline' : 'neutral',
    customerConsented: facts.consentedAt !== undefined,
    sampleContentProvided: facts.hadTrial,
    ...(isAppStore && { deliveryStatus: facts.isDelivered ? 'DELIVERED' : 'UNDELIVERED_OTHER' }),
    ...omitUndefined({ consumptionPercentage: facts.isDelivered ? consumptionPercentage : undefined }),
    why: explain(platform, facts),
  };
}

function explain(
  platform: Platform,
  { isDelivered, isConsumed, usedShare, hadTrial, refundedUsd, consentedAt }: RefundFacts,
): string[] {
  const sentences: (string | false)[] = [
    isDelivered ? 'A customer has validated the purchase.' : 'No customer has validated the purchase.',
    isConsumed && 'The purchase is consumed.',
    usedShare !== undefined && `${formatPercent(usedShare)} of the period is used.`,
    hadTrial && 'The customer had a trial.',
    refundedUsd > 0 && `Earlier refunds: ${refundedUsd.toFixed(2)} USD.`,
    requiresConsent(platform) &&
      (consentedAt === undefined
        ? 'The customer has not consented: the App Store accepts no statement.'
        : 'The customer has consented.'),
  ];
  return sentences.filter((sentence) => sentence !== false);
}

const formatPercent = (share: number): string => `${Math.round(share / 1000)} %`;
