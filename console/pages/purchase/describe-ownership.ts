import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { getPurchaseOwners } from '../../../lib/purchases/contract.ts';
import { formatDate } from '../../format.ts';

export type Owners = ContractResponse<typeof getPurchaseOwners>;

/** The entitlement strategies of an app, as sentences. */
const strategies = {
  all: 'Strategy all: each customer who claims a purchase owns it.',
  first: 'Strategy first: the first customer who claims a purchase owns it.',
  last: 'Strategy last: the customer who validated a purchase last owns it.',
  'last-if-inactive':
    'Strategy last-if-inactive: the customer who validated a purchase last while it gave its owner no access owns it.',
} as const;

export const describeStrategy = (strategy: Owners['strategy']): string =>
  `${strategies[strategy]} A manual link takes precedence.`;

export const claimSources = {
  validation: 'Claimed with a receipt',
  alias: 'Claimed because the store names this customer',
  manual: 'Linked manually',
} as const;

export const isClaimSource = (text: string): text is keyof typeof claimSources => text in claimSources;

/** Describes why a customer owns a purchase or does not own it. */
export function describeOwnership(owners: Owners, user: string): string {
  const claim = owners.claims.find(({ applicationUsername }) => applicationUsername === user);
  const claimed = claim && `${claimSources[claim.source]} on ${formatDate(new Date(claim.lastClaimedAt))}`;
  if (owners.decidedBy === 'unpaid') return `${claimed ?? 'Not claimed'}: no customer owns it until it is paid.`;
  const others = formatNames(owners.entitledUsers.filter((name) => name !== user));
  if (!claim) return others === undefined ? 'Not claimed.' : `Not claimed: ${others} owns it.`;
  if (claim.isEntitled) return `${claimed}: ${describeDecision(owners)}`;
  if (others === undefined) return `${claimed}, but no customer owns it.`;
  if (owners.decidedBy === 'manual') return `${claimed}, but it is linked manually to ${others}.`;
  return `${claimed}, but ${others} ${otherClaims[owners.strategy]}.`;
}

/** Why another customer owns a purchase. */
const otherClaims = {
  all: 'claimed it later',
  first: 'claimed it first',
  last: 'claimed it later',
  'last-if-inactive': 'claimed it later, or has access by it',
} as const;

/** The claim that decides. */
const decidingClaims = {
  all: 'each claim',
  first: 'the first claim',
  last: 'the latest claim',
  'last-if-inactive': 'the latest claim without access of the owner',
} as const;

const describeDecision = ({ decidedBy, strategy }: Owners): string =>
  decidedBy === 'manual'
    ? 'the manual link takes precedence over the strategy.'
    : `by strategy ${strategy}, ${decidingClaims[strategy]} gives ownership.`;

function formatNames(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
}
