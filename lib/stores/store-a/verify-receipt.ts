import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import type { StoreFetch } from '../store.ts';
import type { Account } from './account.ts';
import { misconfigured, unavailable, understood } from './apple-answer.ts';
import { ClassicReceipt, ClassicTransaction, fromClassicTransaction } from './classic-receipt.ts';
import { classicStatuses, PendingRenewal } from './classic-status.ts';
import { Environment } from './payloads.ts';
import { ours, type Trust } from './trust.ts';

const urls: Readonly<Record<Environment, string>> = {
  Production: 'https://buy.itunes.apple.com/verifyReceipt',
  Sandbox: 'https://sandbox.itunes.apple.com/verifyReceipt',
};

const Status = v.object({ status: v.number(), 'is-retryable': v.exactOptional(v.union([v.boolean(), v.number()])) });
type Status = v.InferOutput<typeof Status>;

/** Of receipts of iOS 6 the list is one object. */
const List = v.union([
  v.array(ClassicTransaction),
  v.pipe(
    ClassicTransaction,
    v.transform((only) => [only]),
  ),
]);

const Verified = v.object({
  status: v.number(),
  environment: v.exactOptional(Environment),
  receipt: ClassicReceipt,
  latest_receipt_info: v.exactOptional(List),
  latest_expired_receipt_info: v.exactOptional(List),
  pending_renewal_info: v.exactOptional(v.array(PendingRenewal)),
});
type Verified = v.InferOutput<typeof Verified>;

/** What verifyReceipt tells: the account, and the receipt in the words that clients know. */
export interface VerifiedReceipt {
  readonly account: Account;
  readonly environment: Environment;
  readonly record: ClassicReceipt;
}

interface Question {
  readonly receiptData: string;
  /** Whether its signature was verified here; then it cannot be malformed. */
  readonly isVerified: boolean;
  readonly sharedSecret: string;
  readonly fetch: StoreFetch;
}

/** 21006 is a receipt of iOS 6 whose subscription has expired; it is verified none the less. */
const verifiedStatuses = new Set([0, 21006]);
const sandboxReceipt = 21007;

/**
 * Asks the deprecated verifyReceipt, production first as Apple wants it. Throws `InvalidPayload` for a receipt that Apple
 * did not issue to this application, `ConnectionFailed`, and `InternalError` for a wrong shared secret.
 */
export async function askVerifyReceipt(question: Question, trust: Trust): Promise<VerifiedReceipt> {
  const answer = await post('Production', question);
  if (understood(Status, answer).status !== sandboxReceipt) return judged(answer, 'Production', { question, trust });
  return judged(await post('Sandbox', question), 'Sandbox', { question, trust });
}

async function post(environment: Environment, { receiptData, sharedSecret, fetch }: Question): Promise<string> {
  const body = { 'receipt-data': receiptData, password: sharedSecret, 'exclude-old-transactions': false };
  const { status, text } = await fetch(urls[environment], {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (status !== 200) throw unavailable(`verifyReceipt answers HTTP ${status}`);
  return text;
}

function judged(
  text: string,
  environment: Environment,
  { question, trust }: { question: Question; trust: Trust },
): VerifiedReceipt {
  const status = understood(Status, text);
  if (!verifiedStatuses.has(status.status)) throw refusal(status, question);
  const answer = understood(Verified, text);
  const { receipt } = answer;
  ours({ bundleId: String(receipt.bundle_id ?? receipt.bid) }, trust);
  return { environment, record: receipt, account: accountOf(answer, environment, trust) };
}

function accountOf(answer: Verified, environment: Environment, { now }: Trust): Account {
  const { receipt, latest_receipt_info: latest, latest_expired_receipt_info: expired } = answer;
  // The later lists know more of a transaction than the receipt, which is as old as it is.
  const records = [receipt.in_app ?? onlyTransaction(receipt), expired ?? [], latest ?? []].flat();
  const told = records.map((record) => fromClassicTransaction(record, { environment }));
  const transactions = [...new Map(told.map((transaction) => [transaction.transactionId, transaction])).values()];
  const asOf = Number(receipt.request_date_ms ?? now);
  const statuses = classicStatuses(transactions, { asOf, pending: answer.pending_renewal_info ?? [] });
  return { transactions, statuses, asOf, isComplete: true };
}

/** A receipt of iOS 6 is itself its only transaction. */
const onlyTransaction = (receipt: ClassicReceipt): ClassicTransaction[] =>
  v.is(ClassicTransaction, receipt) ? [receipt] : [];

function refusal({ status, 'is-retryable': isRetryable }: Status, { isVerified }: Question): ServiceError {
  const cause = `verifyReceipt answers status ${status}`;
  switch (status) {
    case 21002:
      return isVerified ? unavailable(cause) : invalid('Apple cannot read this receipt.', cause);
    case 21003:
      return invalid('Apple did not issue this receipt.', cause);
    case 21010:
      return invalid('The store account of this receipt no longer exists.', cause);
    case 21000:
    case 21004:
      return misconfigured(cause);
    default:
      return isRetryable === false || isRetryable === 0
        ? new ServiceError('InternalError', 'Apple cannot process this receipt.', { cause })
        : unavailable(cause);
  }
}

const invalid = (message: string, cause: string): ServiceError =>
  new ServiceError('InvalidPayload', message, { cause });
