import type { Platform } from '../lib/foundation/platform.ts';
import type { Variant } from './ownership-variants.ts';

/** A request to the control API for an action on a purchase. */
export interface ActionRequest {
  readonly action: string;
  readonly details: object;
}

/** Actions of histories with their own body. Other names are names of the control API. */
const requests: Readonly<Record<string, ActionRequest>> = {
  'refund of the first payment': { action: 'refund', details: { payment: 1 } },
  'refund of a part': { action: 'refund', details: { amountMicros: 1_000_000 } },
  'renew by a pending debit': { action: 'renew', details: { pending: true } },
  'end the trial': { action: 'move-trial', details: { end: 'now' } },
  'extend the trial': { action: 'move-trial', details: { end: 'P9D' } },
  'extra invoice': { action: 'extra-invoice', details: { priceMicros: 2_000_000 } },
  'unpaid extra invoice': { action: 'extra-invoice', details: { priceMicros: 3_000_000, unpaid: true } },
  'deferred change-plan': { action: 'change-plan', details: { deferred: true } },
  'invoice-item': { action: 'invoice-item', details: { priceMicros: 1_500_000 } },
  'restore as of now': { action: 'restore', details: { date: 'now' } },
};

export const toActionRequest = (name: string): ActionRequest => requests[name] ?? { action: name, details: {} };

/** Actions that return money or end the purchase without the customer. */
const reversals: readonly string[] = ['refund', 'revoke', 'refund-seats', 'remove-seat', 'revoke-item', 'remove-item'];

export const isReversal = (name: string): boolean => reversals.includes(toActionRequest(name).action);

/** The action returns a payment or a part of it. */
export const isRefund = (name: string): boolean => ['refund', 'revoke'].includes(toActionRequest(name).action);

const ends = ['expire', 'refund', 'revoke'];
const renewals = ['renew', 'cancel', 'fail-payment', 'recover', ...ends];
const intents = [...renewals, 'uncancel'];
const splits = ['split-payment', 'split-payment', 'refund of the first payment', 'refund of a part'];
const extras = ['extra invoice', 'unpaid extra invoice', 'invoice-item', 'extend the trial', 'end the trial'];
const planChanges = ['change-plan', 'deferred change-plan'];
const unpaid = ['fail-payment', 'mark-uncollectible', 'pay'];

const actionsByPlatform: Readonly<Partial<Record<Platform, readonly string[]>>> = {
  store_a: [
    ...[...intents, 'change-plan', 'raise-price', 'accept-price', 'extend', 'reverse-refund'],
    ...['restore', 'restore as of now'],
  ],
  store_b: [...intents, ...planChanges, 'pause', 'resume', 'raise-price', 'accept-price', 'resubscribe'],
  store_c: intents,
  processor_a: [
    ...[...intents, ...planChanges, ...splits, ...extras, ...unpaid],
    ...['renew by a pending debit', 'pause-collection', 'resume-collection'],
  ],
  service_processor_a: [...intents, ...planChanges, ...splits, ...extras, ...unpaid],
  processor_b: [...renewals, 'change-plan', 'change-plan', 'refund of a part'],
};

const actionsByVariant: Readonly<Partial<Record<Variant, readonly string[]>>> = {
  prepaid: ['top-up', 'top-up', ...ends],
  commitment: ['cancel', 'cancel', ...intents],
  installments: ['cancel', 'cancel', ...intents],
  seats: [...intents, 'add-seats', 'refund-seats', 'assign-seat', 'remove-seat', 'restore'],
  emailed: [...intents, 'pay', 'pay', 'pay', 'mark-uncollectible', 'change-plan', ...splits],
  backdated: [...intents, ...splits],
};

/** Lists the actions of a subscription, the likely ones several times. */
export function listSubscriptionActions(platform: Platform, variant: Variant): readonly string[] {
  if (variant === 'lines') {
    const changes = ['add-item', 'add-item', 'remove-item', ...(platform === 'store_b' ? ['revoke-item'] : splits)];
    return [...intents, ...changes];
  }
  return actionsByVariant[variant] ?? actionsByPlatform[platform] ?? [];
}

/** Lists the actions of a one-time purchase. */
export const listOneTimeActions = (platform: Platform): readonly string[] => [
  ...['refund', 'revoke'],
  ...(platform === 'store_a' ? ['restore', 'restore as of now'] : []),
];
