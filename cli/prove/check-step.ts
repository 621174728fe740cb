import { secondMs } from '../../lib/foundation/time.ts';
import type { Arrival } from './arrivals.ts';
import type { ProofStep } from './proof-step.ts';
import type { OwnersView, PurchaseView } from './service-client.ts';

/** One expectation of a step and what was seen. */
export interface Check {
  readonly what: string;
  readonly expected: string;
  /** Undefined if it was not seen. */
  readonly seen?: string;
  readonly isMet: boolean;
  /** Time from the cause of the step. Absent for a state. */
  readonly afterSeconds?: number;
  /** Arrived after the limit. */
  readonly isLate?: true;
}

/** What the service has when the step is checked. */
export interface StepObservation {
  readonly causedAt: number;
  readonly before: PurchaseView | undefined;
  readonly purchase: PurchaseView | undefined;
  readonly arrivals: readonly Arrival[];
  /** Times of webhooks with a reason of the step. Undefined without a webhook URL. */
  readonly deliveries: readonly number[] | undefined;
  readonly owners?: OwnersView;
}

/** Time for a notification after its cause. The stores document no limit, and send within seconds. */
const arrivalLimitSeconds = 60;

/** Compares a step with what the service has. All checks must be met. */
export function checkStep(step: ProofStep, observation: StepObservation, isSandbox: boolean): readonly Check[] {
  const { purchase } = observation;
  return [
    ...checkNotification(step, observation),
    ...checkAnnouncement(step, observation),
    ...checkDelivery(step, observation),
    ...Object.entries(step.state).map(([field, expected]) => checkField(field, expected, purchase?.[field])),
    ...(step.isExtended ? [checkExtension(observation)] : []),
    ...(step.name === 'buy' ? [checkField('sandbox', isSandbox, purchase?.sandbox ?? false)] : []),
    ...(step.name === 'restore' ? [checkOwners(observation)] : []),
  ];
}

function checkNotification({ notifications }: ProofStep, { arrivals, causedAt }: StepObservation): Check[] {
  if (notifications.length === 0) return [];
  const expected = `${notifications.join(' or ')} within ${arrivalLimitSeconds} s`;
  const arrival = arrivals.find(({ type }) => notifications.includes(type));
  if (!arrival) return [{ what: 'store notification', expected, isMet: false }];
  const afterSeconds = toSeconds(arrival.receivedAt - causedAt);
  const isLate = afterSeconds > arrivalLimitSeconds;
  return [
    {
      what: 'store notification',
      expected,
      seen: arrival.type,
      isMet: true,
      afterSeconds,
      ...(isLate && { isLate }),
    },
  ];
}

/** Announcements of earlier steps stay in the list of the purchase, so only the new ones count. */
function checkAnnouncement({ reasons }: ProofStep, { before, purchase }: StepObservation): Check[] {
  if (reasons.length === 0) return [];
  const seen = reasons.find((reason) => countReason(purchase, reason) > countReason(before, reason));
  return [
    {
      what: 'announcement',
      expected: reasons.join(' or '),
      ...(seen !== undefined && { seen }),
      isMet: seen !== undefined,
    },
  ];
}

const countReason = (purchase: PurchaseView | undefined, reason: string): number =>
  (purchase?.notifications ?? []).filter((notification) => notification.reason === reason).length;

function checkDelivery({ reasons }: ProofStep, { deliveries, causedAt }: StepObservation): Check[] {
  if (reasons.length === 0 || deliveries === undefined) return [];
  const [deliveredAt] = deliveries;
  const check = { what: 'webhook to the app', expected: reasons.join(' or ') };
  if (deliveredAt === undefined) return [{ ...check, isMet: false }];
  return [{ ...check, seen: 'delivered', isMet: true, afterSeconds: toSeconds(deliveredAt - causedAt) }];
}

/** An absent field of the API means false. */
const checkField = (field: string, expected: unknown, value: unknown): Check => ({
  what: field,
  expected: String(expected),
  ...(value !== undefined && { seen: String(value) }),
  isMet: (value ?? false) === expected,
});

function checkExtension({ before, purchase }: StepObservation): Check {
  const isMet = Date.parse(purchase?.expirationDate ?? '') > Date.parse(before?.expirationDate ?? '');
  return { what: 'expirationDate', expected: 'later than before', seen: isMet ? 'later' : 'unchanged', isMet };
}

/** Owners after a second customer has sent the receipt, by the strategy of the app. */
function checkOwners({ owners, before }: StepObservation): Check {
  const [first] = before?.entitledUsers ?? [];
  const second = owners?.claims.find(({ applicationUsername }) => applicationUsername !== first);
  const check = { what: 'owners', expected: expectedOwners[owners?.strategy ?? 'all'] };
  if (!owners || !second || first === undefined) return { ...check, isMet: false };
  const hasFirst = owners.entitledUsers.includes(first);
  const hasSecond = owners.entitledUsers.includes(second.applicationUsername);
  const seen = hasFirst && hasSecond ? expectedOwners.all : hasSecond ? expectedOwners.last : expectedOwners.first;
  return { ...check, seen, isMet: seen === check.expected };
}

const expectedOwners: Readonly<Record<OwnersView['strategy'], string>> = {
  all: 'both customers',
  first: 'the first customer',
  last: 'the second customer',
  'last-if-inactive': 'the first customer',
};

const toSeconds = (ms: number): number => Math.max(0, Math.round(ms / secondMs));
