import type Stripe from 'stripe';
import type { ActionBody } from '../purchase-order.ts';
import { generateId, getId, getObject, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent, listInvoiceCharges, listInvoices, requirePossible } from './account-state.ts';
import { formatAmount, toMinorUnits } from './money.ts';
import { buildDispute, buildDisputeBalance, buildInquiry, buildRefund } from './reversal-objects.ts';

export interface ReversalInput {
  readonly purchaseId: string;
  readonly at: number;
  readonly details: ActionBody;
}

/** Refunds a part of a charge, or its remaining amount. */
export function refundPurchase(state: AccountState, { purchaseId, at, details }: ReversalInput): string {
  const charge = findPaidCharge(state, purchaseId, details);
  const isDisputed = listDisputes(state.records, [charge.id]).some(({ status }) => !isInquiry(status));
  requirePossible(!charge.refunded && !isDisputed, purchaseId, `has a reversed charge ${charge.id}`);
  const { amountMicros } = details;
  const remaining = charge.amount - charge.amount_refunded;
  const amount = amountMicros === undefined ? remaining : toMinorUnits(amountMicros, charge.currency, 'amountMicros');
  requirePossible(amount <= remaining, purchaseId, `has only ${formatAmount(remaining, charge.currency)} to refund`);
  refundCharge(state, charge, { amount, purchaseId, at });
  return purchaseId;
}

/**
 * Refunds a charge fully or partially. A full refund resolves an inquiry.
 *
 * @see https://docs.stripe.com/api/refunds/object
 * @see https://docs.stripe.com/disputes/how-disputes-work#inquiries
 */
export function refundCharge(
  state: AccountState,
  charge: Stripe.Charge,
  { amount, purchaseId, at }: { amount: number; purchaseId: string; at: number },
): Stripe.Refund {
  const refund = saveObject(state.records, 'refunds', buildRefund(charge, amount, at));
  const amount_refunded = charge.amount_refunded + amount;
  const refundedCharge = saveObject(state.records, 'charges', {
    ...charge,
    amount_refunded,
    refunded: amount_refunded === charge.amount,
  });
  emitEvent(state, 'refund.created', { purchaseId, at, object: refund });
  emitEvent(state, 'charge.refunded', { purchaseId, at, object: refundedCharge, before: charge });
  const inquiry = findOpenInquiry(state.records, charge);
  if (refundedCharge.refunded && inquiry) closeDispute(state, inquiry, { purchaseId, at, status: 'warning_closed' });
  return refund;
}

/**
 * Fails the latest refund of a purchase after it was paid.
 *
 * @see https://docs.stripe.com/refunds#failed-refunds
 */
export function reverseRefund(state: AccountState, { purchaseId, at }: ReversalInput): string {
  const { records } = state;
  const charges = listCharges(records, purchaseId).map(({ id }) => id);
  const refund = [...records.objects.refunds.values()].findLast(
    ({ charge, status, reason }) => status === 'succeeded' && reason !== null && charges.includes(getId(charge)),
  );
  requirePossible(refund !== undefined, purchaseId, 'does not have a refund that can fail');
  const charge = getObject(records, 'charges', getId(refund.charge));
  const amount_refunded = charge.amount_refunded - refund.amount;
  saveObject(records, 'charges', { ...charge, amount_refunded, refunded: false });
  const object = saveObject(records, 'refunds', {
    ...refund,
    status: 'failed',
    failure_reason: 'expired_or_canceled_card',
    failure_balance_transaction: generateId('txn'),
  });
  for (const type of ['refund.updated', 'refund.failed']) emitEvent(state, type, { purchaseId, at, object });
  return purchaseId;
}

/**
 * Opens an inquiry, which withdraws nothing. The bank can escalate it to a dispute.
 *
 * @see https://docs.stripe.com/disputes/how-disputes-work#inquiries
 */
export function openInquiry(state: AccountState, { purchaseId, at, details }: ReversalInput): string {
  const charge = findPaidCharge(state, purchaseId, details);
  requirePossible(!charge.refunded && !charge.disputed, purchaseId, `has a reversed charge ${charge.id}`);
  const object = saveObject(state.records, 'disputes', buildInquiry(charge, at));
  saveObject(state.records, 'charges', { ...charge, disputed: true });
  emitEvent(state, 'charge.dispute.created', { purchaseId, at, object });
  return purchaseId;
}

/** Sends evidence to the bank. */
export function answerInquiry(state: AccountState, { purchaseId, at, details }: ReversalInput): string {
  const before = requireInquiry(state, purchaseId, details);
  const object = saveObject(state.records, 'disputes', { ...before, status: 'warning_under_review' });
  emitEvent(state, 'charge.dispute.updated', { purchaseId, at, object, before });
  return purchaseId;
}

/** Closes an inquiry that the bank did not escalate. */
export function closeInquiry(state: AccountState, { purchaseId, at, details }: ReversalInput): string {
  closeDispute(state, requireInquiry(state, purchaseId, details), { purchaseId, at, status: 'warning_closed' });
  return purchaseId;
}

/**
 * Opens a dispute, or escalates an inquiry to one. Stripe withdraws the disputed amount until the dispute is closed.
 *
 * @see https://support.stripe.com/topics/disputes
 */
export function openDispute(state: AccountState, { purchaseId, at, details }: ReversalInput): string {
  const charge = findPaidCharge(state, purchaseId, details);
  const inquiry = findOpenInquiry(state.records, charge);
  requirePossible(!charge.disputed || inquiry !== undefined, purchaseId, `has a disputed charge ${charge.id}`);
  const object = saveObject(state.records, 'disputes', {
    ...buildDispute(charge, getDisputedAmount(charge), at),
    ...(inquiry && { id: inquiry.id, created: inquiry.created }),
  });
  saveObject(state.records, 'charges', { ...charge, disputed: true });
  if (!inquiry) emitEvent(state, 'charge.dispute.created', { purchaseId, at, object });
  emitEvent(state, 'charge.dispute.funds_withdrawn', { purchaseId, at, object });
  if (inquiry) emitEvent(state, 'charge.dispute.updated', { purchaseId, at, object, before: inquiry });
  return purchaseId;
}

/**
 * Of a payment that was refunded in part, only the rest is withdrawn. The bank of a debit does not know of a full
 * refund: the customer receives two credits.
 *
 * @see https://docs.stripe.com/disputes#disputes-on-partially-refunded-payments
 * @see https://docs.stripe.com/refunds#bank-debit-payment-methods
 */
const getDisputedAmount = ({ amount, amount_refunded, refunded }: Stripe.Charge): number =>
  refunded ? amount : amount - amount_refunded;

/**
 * Closes the dispute in favor of the account, which gets the disputed amount back. A lost dispute can still be won. One
 * that is won in part is lost.
 *
 * @see https://support.stripe.com/questions/dispute-for-full-charge-amount-after-a-partial-refund-was-issued
 */
export function winDispute(state: AccountState, { purchaseId, at, details: { amountMicros } }: ReversalInput): string {
  const dispute = findDispute(state.records, purchaseId);
  const isWinnable = dispute?.status === 'needs_response' || dispute?.status === 'lost';
  requirePossible(isWinnable, purchaseId, 'does not have a dispute to win');
  const returned = dispute.balance_transactions.reduce((sum, { amount }) => sum + Math.max(0, amount), 0);
  const rest = dispute.amount - returned;
  const amount = amountMicros === undefined ? rest : toMinorUnits(amountMicros, dispute.currency, 'amountMicros');
  requirePossible(amount <= rest, purchaseId, `has only ${formatAmount(rest, dispute.currency)} to win`);
  const closed = closeDispute(state, dispute, { purchaseId, at, status: amount < rest ? 'lost' : 'won' });
  const charge = getObject(state.records, 'charges', getId(dispute.charge));
  const object = saveObject(state.records, 'disputes', {
    ...closed,
    balance_transactions: [...closed.balance_transactions, buildDisputeBalance(charge, amount, at)],
  });
  emitEvent(state, 'charge.dispute.funds_reinstated', { purchaseId, at, object });
  return purchaseId;
}

/** Closes the dispute in favor of the customer. Opens one first if it is missing. */
export function loseDispute(state: AccountState, input: ReversalInput): string {
  const { purchaseId, at } = input;
  const isOpen = findDispute(state.records, purchaseId)?.status === 'needs_response';
  if (!isOpen) openDispute(state, input);
  const dispute = findDispute(state.records, purchaseId);
  requirePossible(dispute !== undefined, purchaseId, 'does not have a dispute');
  closeDispute(state, dispute, { purchaseId, at, status: 'lost' });
  return purchaseId;
}

function closeDispute(
  state: AccountState,
  dispute: Stripe.Dispute,
  { purchaseId, at, status }: { purchaseId: string; at: number; status: 'won' | 'lost' | 'warning_closed' },
): Stripe.Dispute {
  const closed = saveObject(state.records, 'disputes', { ...dispute, status });
  emitEvent(state, 'charge.dispute.closed', { purchaseId, at, object: closed });
  return closed;
}

/** Finds the latest dispute of a purchase. */
const findDispute = (records: AccountState['records'], purchaseId: string): Stripe.Dispute | undefined =>
  listDisputes(
    records,
    listCharges(records, purchaseId).map(({ id }) => id),
  ).at(-1);

const listDisputes = ({ objects }: AccountState['records'], charges: readonly string[]): Stripe.Dispute[] =>
  [...objects.disputes.values()].filter(({ charge }) => charges.includes(getId(charge)));

const isInquiry = (status: Stripe.Dispute.Status): boolean => status.startsWith('warning_');

const findOpenInquiry = (records: AccountState['records'], { id }: Stripe.Charge): Stripe.Dispute | undefined =>
  listDisputes(records, [id]).find(({ status }) => isInquiry(status) && status !== 'warning_closed');

function requireInquiry(state: AccountState, purchaseId: string, details: ActionBody): Stripe.Dispute {
  const inquiry = findOpenInquiry(state.records, findPaidCharge(state, purchaseId, details));
  requirePossible(inquiry !== undefined, purchaseId, 'does not have an open inquiry');
  return inquiry;
}

function findPaidCharge(
  { records }: AccountState,
  purchaseId: string,
  { transactionId, payment }: ActionBody,
): Stripe.Charge {
  const charges = listPaidCharges(records, purchaseId);
  if (transactionId === undefined) {
    const charge = charges.at(payment === undefined || payment === 'last' ? -1 : payment - 1);
    requirePossible(charge !== undefined, purchaseId, 'does not have this paid charge');
    return charge;
  }
  const charge =
    charges.find(({ id }) => id === transactionId) ??
    listInvoiceCharges(records, transactionId).find(({ paid }) => paid);
  requirePossible(charge !== undefined, purchaseId, 'does not have a paid charge');
  return charge;
}

/**
 * Lists the succeeded charges of a purchase in the order in which they were made. The first one is payment 1 of the
 * control API. Not by date: the action `renew` dates a charge in the next period, before the clock is there.
 */
export function listPaidCharges(records: AccountState['records'], purchaseId: string): Stripe.Charge[] {
  const ids = new Set(listCharges(records, purchaseId).map(({ id }) => id));
  return [...records.objects.charges.values()].filter(({ id, captured }) => captured && ids.has(id));
}

/** Lists the charges of a purchase, oldest first. */
export function listCharges(records: AccountState['records'], purchaseId: string): Stripe.Charge[] {
  if (records.objects.subscriptions.has(purchaseId)) {
    return listInvoices(records, purchaseId).flatMap(({ id }) => listInvoiceCharges(records, id));
  }
  return [...records.objects.charges.values()].filter(({ payment_intent }) => getId(payment_intent) === purchaseId);
}
