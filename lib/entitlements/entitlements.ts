import type { SandboxRule } from '../apps/app.ts';
import { type Catalogue, listEntitlements } from '../apps/catalogue.ts';
import type { Platform } from '../foundation/platform.ts';
import { type EpochMillis, toNullableIsoSeconds } from '../foundation/time.ts';
import { getAccessEnd, isActive, isSubscription, isUnpaid, noEnd, type Purchase } from '../purchases/purchase.ts';
import type { EntitlementRecord } from './contract.ts';
import { type Grant, getGrantEnd, isGrantActive } from './grant.ts';

/** What gives an entitlement. */
type EntitlementSource =
  | {
      readonly type: 'purchase';
      readonly purchaseId: string;
      readonly platform: Platform;
      readonly productId: string;
    }
  | { readonly type: 'grant'; readonly grantId: string };

/** An entitlement of a customer at one time, by its best source. */
export interface Entitlement {
  readonly isActive: boolean;
  /** Start of the purchase or grant. Undefined if the store does not report it. */
  readonly since?: EpochMillis;
  /** End of access. Undefined: without end, or, if it is not active, at an unknown time. */
  readonly until?: EpochMillis;
  readonly willRenew: boolean;
  readonly isSandbox: boolean;
  /** The payment of a renewal has failed and access goes on for now. */
  readonly isInGracePeriod: boolean;
  readonly source: EntitlementSource;
}

/** The entitlements of a customer by name. */
export type Entitlements = ReadonlyMap<string, Entitlement>;

/** What the entitlements of a customer follow from. */
export interface EntitlementFacts {
  readonly username: string;
  /** The purchases that the customer owns. */
  readonly purchases: readonly Purchase[];
  readonly grants: readonly Grant[];
  readonly catalogue: Catalogue | undefined;
  readonly sandboxRule: SandboxRule | undefined;
}

/**
 * Computes all entitlements that the customer has or ever had. Nothing of it is stored, so that a change of the
 * catalogue applies to all customers at once. A purchase gives what its product gives in the catalogue, while it gives
 * access: a grace period does, an unpaid, paused, expired, refunded or consumed purchase does not.
 */
export function computeEntitlements(facts: EntitlementFacts, now: EpochMillis): Entitlements {
  const best = new Map<string, Entitlement>();
  for (const [name, candidate] of listCandidates(facts, now)) {
    const current = best.get(name);
    if (!current || compareEntitlements(candidate, current) < 0) best.set(name, candidate);
  }
  return new Map([...best].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Lists what each purchase and each grant gives. */
function listCandidates(
  { username, purchases, grants, catalogue, sandboxRule }: EntitlementFacts,
  now: EpochMillis,
): [name: string, entitlement: Entitlement][] {
  const counted = purchases.filter(
    (purchase) => !isUnpaid(purchase) && (!purchase.sandbox || allowsSandbox(sandboxRule, username)),
  );
  return [
    ...counted.flatMap((purchase) =>
      listEntitlements(catalogue, purchase.productId).map((name): [string, Entitlement] => [
        name,
        toPurchasedEntitlement(purchase, now),
      ]),
    ),
    ...grants.map((grant): [string, Entitlement] => [grant.entitlement, toGrantedEntitlement(grant, now)]),
  ];
}

export function allowsSandbox(sandboxRule: SandboxRule | undefined, username: string): boolean {
  if (!sandboxRule || sandboxRule.rule === 'all') return true;
  return sandboxRule.rule === 'listed' && sandboxRule.usernames.includes(username);
}

function toPurchasedEntitlement(purchase: Purchase, now: EpochMillis): Entitlement {
  const { purchaseId, platform, productId, purchaseDate, sandbox } = purchase;
  const isNowActive = isActive(purchase, now);
  const end = getAccessEnd(purchase);
  return {
    isActive: isNowActive,
    ...(purchaseDate !== undefined && { since: purchaseDate }),
    // A paused or consumed purchase has lost access before its dates say so.
    ...(end !== noEnd && (isNowActive || end <= now) && { until: end }),
    willRenew: isNowActive && isSubscription(purchase) && purchase.renewalIntent === 'Renew',
    isSandbox: sandbox,
    isInGracePeriod: isNowActive && purchase.isBillingRetryPeriod === true,
    source: { type: 'purchase', purchaseId, platform, productId },
  };
}

function toGrantedEntitlement(grant: Grant, now: EpochMillis): Entitlement {
  const end = getGrantEnd(grant);
  return {
    isActive: isGrantActive(grant, now),
    since: grant.createdAt,
    ...(end !== undefined && { until: end }),
    willRenew: false,
    isSandbox: false,
    isInGracePeriod: false,
    source: { type: 'grant', grantId: grant.grantId },
  };
}

/**
 * Compares two sources of an entitlement, the better one first: an active one, then the later end, then a real purchase
 * before one of a sandbox, one that renews, a purchase before a grant, and the later start.
 */
const compareEntitlements = (a: Entitlement, b: Entitlement): number =>
  Number(b.isActive) - Number(a.isActive) ||
  rankEnd(b) - rankEnd(a) ||
  Number(a.isSandbox) - Number(b.isSandbox) ||
  Number(b.willRenew) - Number(a.willRenew) ||
  Number(a.source.type === 'grant') - Number(b.source.type === 'grant') ||
  (b.since ?? 0) - (a.since ?? 0) ||
  (getSourceId(a) < getSourceId(b) ? -1 : 1);

/** An active source without an end is the best one. An inactive one without a known end is the last one. */
const rankEnd = ({ isActive: isNowActive, until }: Entitlement): number => until ?? (isNowActive ? noEnd : 0);

const getSourceId = ({ source }: Entitlement): string =>
  source.type === 'purchase' ? source.purchaseId : source.grantId;

/** Returns the records of entitlements by name, as responses and webhooks contain them. */
export const toEntitlementRecords = (entitlements: Entitlements): Record<string, EntitlementRecord> =>
  Object.fromEntries(
    [...entitlements].map(([name, { since, until, ...entitlement }]) => [
      name,
      { ...entitlement, since: toNullableIsoSeconds(since), until: toNullableIsoSeconds(until) },
    ]),
  );
