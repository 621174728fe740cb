import { creditEntryTexts } from '../api/credit-texts.ts';
import type { Strategy } from '../apps/app.ts';
import type { CreditEntry } from '../credits/credit-entry.ts';
import type { Merge } from '../customers/merge.ts';
import { storeNames, withoutPlatform } from '../foundation/platform.ts';
import { type EpochMillis, toIsoSeconds } from '../foundation/time.ts';
import type { Claim } from '../purchases/claims.ts';
import type { NotificationReason } from '../purchases/lifecycle-reasons.ts';
import { isExpired, isSubscription, isUnpaid, type Purchase } from '../purchases/purchase.ts';
import { commandLineKey, type Grant, type GrantingKey, getGrantEnd, isGrantActive } from './grant.ts';

/** A fact that the access of a customer follows from. */
export interface Fact {
  /** Undefined for a setting. */
  readonly at?: EpochMillis;
  readonly source: string;
  readonly what: string;
  readonly effect: 'gives' | 'prevents' | 'none';
}

/** What announcements say about a purchase. Reasons that describe requests are left out. */
const reasonTexts: Partial<Record<NotificationReason, string>> = {
  PURCHASED: 'The purchase was announced.',
  RENEWED: 'A renewal was announced.',
  EXPIRED: 'The end was announced.',
  REVOKED: 'The store took the purchase back.',
  REFUNDED: 'A refund was announced.',
  PAUSED: 'A pause was announced.',
  ENTERED_GRACE_PERIOD: 'The payment of a renewal failed.',
  PLAN_CHANGED: 'A change of the plan was announced.',
  EXTENDED: 'An extension was announced.',
  WILL_LAPSE: 'The customer switched the renewal off.',
  WILL_AUTO_RENEW: 'The customer switched the renewal on.',
};

/** Describes an announcement of a purchase. Undefined for a reason that does not concern access. */
export function describeAnnouncement(
  { purchaseId }: Purchase,
  { date, reason }: { readonly date: EpochMillis; readonly reason: NotificationReason },
): Fact | undefined {
  const what = reasonTexts[reason];
  return what === undefined ? undefined : { at: date, source: purchaseId, what, effect: 'none' };
}

/** Describes the start of a purchase and its state at `now`, which decides. */
export function describePurchase(purchase: Purchase, now: EpochMillis): Fact[] {
  const { purchaseId, purchaseDate, productId, platform } = purchase;
  const bought = `${storeNames[platform]} sold ${withoutPlatform(productId)}.`;
  return [
    { ...(purchaseDate !== undefined && { at: purchaseDate }), source: purchaseId, what: bought, effect: 'none' },
    { source: purchaseId, ...describeState(purchase, now) },
  ];
}

type State = Omit<Fact, 'source'>;

function describeState(purchase: Purchase, now: EpochMillis): State {
  const { expirationDate, endedAt, autoResumeDate } = purchase;
  if (purchase.isPending) return toPreventingState(undefined, 'The first payment is pending.');
  if (purchase.isAbandoned) return toPreventingState(undefined, 'The first payment was canceled or failed.');
  if (purchase.isConsumed) return toPreventingState(undefined, 'The purchase is consumed.');
  if (endedAt !== undefined && endedAt <= now) return toPreventingState(endedAt, describeEnd(purchase));
  if (purchase.isPaused)
    return toPreventingState(
      undefined,
      autoResumeDate === undefined
        ? 'The subscription is paused.'
        : `The subscription is paused until ${toIsoSeconds(autoResumeDate)}.`,
    );
  if (isExpired(purchase, now))
    return toPreventingState(
      expirationDate,
      purchase.isBillingRetryPeriod
        ? 'The paid time has passed, and the payment of the renewal failed.'
        : 'The paid time has passed.',
    );
  if (purchase.isBillingRetryPeriod)
    return toGivingState(expirationDate, 'Access goes on in the grace period until then.');
  if (expirationDate === undefined) return toGivingState(undefined, 'Access does not end.');
  return toGivingState(
    expirationDate,
    purchase.isTrialPeriod ? 'The free trial runs until then.' : 'Access is paid until then.',
  );
}

const toGivingState = (at: EpochMillis | undefined, what: string): State => ({
  ...(at !== undefined && { at }),
  what,
  effect: 'gives',
});
const toPreventingState = (at: EpochMillis | undefined, what: string): State => ({
  ...(at !== undefined && { at }),
  what,
  effect: 'prevents',
});

function describeEnd({ cancelationReason }: Purchase): string {
  if (cancelationReason === 'System.Replaced') return 'Another purchase replaced this one.';
  if (cancelationReason === 'System.Deleted') return 'The store deleted the purchase.';
  if (cancelationReason === 'System.BillingError') return 'The store ended the purchase: a payment failed.';
  return cancelationReason?.startsWith('Customer')
    ? 'The purchase was refunded to the customer.'
    : 'The store ended the purchase: it was refunded or taken back.';
}

const claimTexts: Readonly<Record<Claim['source'], string>> = {
  validation: 'The customer sent the receipt.',
  alias: 'The store named the customer.',
  manual: 'The operator linked the purchase to the customer.',
};

/** Describes why a claim on a purchase makes the customer an owner, or not. */
export function describeClaim(
  purchase: Purchase,
  { claim, isEntitled, strategy }: { readonly claim: Claim; readonly isEntitled: boolean; readonly strategy: Strategy },
): Fact[] {
  const source = purchase.purchaseId;
  const claimed: Fact = { at: claim.firstClaimedAt, source, what: claimTexts[claim.source], effect: 'none' };
  if (isEntitled || isUnpaid(purchase)) return [claimed];
  return [
    claimed,
    { source, what: `Another customer owns the purchase${strategyTexts[strategy]}.`, effect: 'prevents' },
  ];
}

const strategyTexts: Readonly<Record<Strategy, string>> = {
  all: ', because the operator linked it',
  first: ', because the first customer who sent the receipt keeps it (strategy first)',
  last: ', because the customer who sent the receipt last owns it (strategy last)',
  'last-if-inactive': ', because it gave that customer access at the time of the claim (strategy last-if-inactive)',
};

/** Describes that the sandbox rule of the app excludes a purchase. */
export const describeSandboxRule = ({ purchaseId }: Purchase): Fact => ({
  source: purchaseId,
  what: "The app's sandbox rule excludes the purchase: no money was paid.",
  effect: 'prevents',
});

const describeOrigin = (key: GrantingKey | undefined): string =>
  key?.id === commandLineKey.id ? 'on the command line' : `with the key ${key?.name}`;

/** Describes the start and the state of a grant at `now`. */
export function describeGrant(grant: Grant, now: EpochMillis): Fact[] {
  const { grantId, createdAt, createdBy, reason, revokedAt, revokedBy } = grant;
  const created: Fact = {
    at: createdAt,
    source: grantId,
    what: `Granted ${describeOrigin(createdBy)}: ${reason}`,
    effect: 'none',
  };
  const end = getGrantEnd(grant);
  const at = end === undefined ? {} : { at: end };
  if (isGrantActive(grant, now)) {
    const what = end === undefined ? 'The grant does not end.' : 'The grant is valid until then.';
    return [created, { ...at, source: grantId, what, effect: 'gives' }];
  }
  const what =
    grant.movedAt !== undefined
      ? 'A merge moved the grant to another customer.'
      : revokedAt === undefined
        ? 'The grant has ended.'
        : `Revoked ${describeOrigin(revokedBy)}.`;
  return [created, { ...at, source: grantId, what, effect: 'prevents' }];
}

/** Describes a change of the credits that a product gives. */
export function describeCreditEntry({ entryId, at, type, credit, amount, reason, purchaseId }: CreditEntry): Fact {
  const end = reason === undefined ? '.' : `: ${reason}`;
  const what = `${amount} ${credit} ${creditEntryTexts[type]}${end}`;
  return { at, source: purchaseId ?? entryId, what, effect: 'none' };
}

/** Describes a merge of customers, from the side of one of them. */
export function describeMerge(merge: Merge, username: string): Fact[] {
  const { mergeId, from, to, startedAt, mergedBy, reversedAt, reversedBy } = merge;
  const what =
    to === username
      ? `The purchases and grants of ${from} were moved to this customer ${describeOrigin(mergedBy)}.`
      : `The purchases and grants of this customer were moved to ${to} ${describeOrigin(mergedBy)}.`;
  return [
    { at: startedAt, source: mergeId, what, effect: 'none' },
    ...(reversedAt === undefined
      ? []
      : [
          {
            at: reversedAt,
            source: mergeId,
            what: `The merge was reversed ${describeOrigin(reversedBy)}.`,
            effect: 'none',
          } as const,
        ]),
  ];
}

/** Describes that earlier facts of the customer are not stored any longer. */
export const describeErasure = (): Fact => ({
  source: 'customer',
  what: 'The data of this customer were erased. Earlier purchases, claims, grants and events are not stored.',
  effect: 'none',
});

/** Describes what happens next to a source of access, if nothing else does. */
export function describeNext(purchase: Purchase, now: EpochMillis): { at: EpochMillis; what: string } | undefined {
  const { endedAt, expirationDate, renewalIntent, autoResumeDate, isPaused } = purchase;
  if (isPaused && autoResumeDate !== undefined && autoResumeDate > now)
    return { at: autoResumeDate, what: 'The subscription resumes.' };
  if (isExpired(purchase, now)) return undefined;
  const end = Math.min(endedAt ?? Number.POSITIVE_INFINITY, expirationDate ?? Number.POSITIVE_INFINITY);
  if (end === Number.POSITIVE_INFINITY) return undefined;
  const renews = isSubscription(purchase) && renewalIntent === 'Renew' && endedAt === undefined;
  if (purchase.isBillingRetryPeriod) return { at: end, what: 'The grace period ends unless the store is paid.' };
  return { at: end, what: renews ? 'The store renews the subscription.' : 'Access ends.' };
}
