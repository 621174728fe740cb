import * as v from 'valibot';
import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { createReceipt, type ParsedReceipt, parseReceipt } from './receipt.ts';
import { buildInAppRecord, buildPendingRenewal, buildReceiptRecord } from './receipt-records.ts';
import { type Account, type Environment, getLatestTransaction } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { toDeviceTransaction } from './restoring.ts';
import { findTransaction, listPurchases, type OwnedTransaction, type StoreState } from './store-state.ts';
import { listTransactions } from './transaction-history.ts';

const Body = v.object({
  'receipt-data': v.pipe(v.string(), v.minLength(1), v.base64()),
  password: v.optional(v.string()),
  'exclude-old-transactions': v.optional(v.boolean(), false),
});
type Body = v.InferOutput<typeof Body>;

/**
 * Handles the deprecated verifyReceipt. The HTTP status is always 200; `status` in the body is the result.
 *
 * @see https://developer.apple.com/documentation/appstorereceipts/status
 */
export function handleVerifyReceipt(
  context: ResponseContext,
  call: StoreHttpRequest,
  environment: Environment,
): HttpResponse {
  if (call.path !== '/verifyReceipt') return textResponse(404, 'Not Found\n');
  if (call.method !== 'POST') return jsonResponse(200, { status: 21000 });
  const body = v.safeParse(v.pipe(v.string(), v.parseJson(), Body), call.body.toString('utf8'));
  if (!body.success) return jsonResponse(200, { status: 21002 });
  const receipt = parseReceiptOrMalformed(context, body.output['receipt-data']);
  if (receipt === 'malformed') return jsonResponse(200, { status: 21002 });
  const account = receipt && findReceiptAccount(context.state, receipt);
  if (receipt === undefined || account === undefined) return jsonResponse(200, { status: 21003 });
  if (receipt.environment !== environment)
    return jsonResponse(200, { status: environment === 'Production' ? 21007 : 21008 });
  const subscriptions = listPurchases(context.state, account.id).filter(
    ({ subscription }) => subscription !== undefined,
  );
  const hasSecret = body.output.password === context.keys.sharedSecret;
  if (subscriptions.length > 0 && !hasSecret) return jsonResponse(200, { status: 21004 });
  const result = { status: 0, environment, receipt: buildReceiptWithPurchases(context, receipt, account) };
  if (subscriptions.length === 0) return jsonResponse(200, result);
  const latestReceipt = createReceipt(
    { state: context.state, signer: context.keys.receipts, now: context.now() },
    account,
  );
  return jsonResponse(200, {
    ...result,
    latest_receipt_info: listLatestTransactions(context.state, account, body.output).map((owned) =>
      buildInAppRecord(context.state, owned),
    ),
    latest_receipt: latestReceipt.toString('base64'),
    pending_renewal_info: subscriptions.map(buildPendingRenewal),
  });
}

function parseReceiptOrMalformed(context: ResponseContext, base64: string): ParsedReceipt | undefined | 'malformed' {
  try {
    return parseReceipt(Buffer.from(base64, 'base64'), context.keys.receipts);
  } catch (error) {
    if (error instanceof RangeError) return 'malformed';
    throw error;
  }
}

const findReceiptAccount = ({ accounts }: StoreState, { appTransactionId }: ParsedReceipt): Account | undefined =>
  [...accounts.values()].find((account) => account.appTransactionId === appTransactionId);

function buildReceiptWithPurchases({ state, now }: ResponseContext, receipt: ParsedReceipt, account: Account): object {
  const inApp = receipt.transactionIds.flatMap((id) => findTransaction(state, account.environment, id) ?? []);
  return {
    ...buildReceiptRecord(account, { createdAt: receipt.createdAt, requestedAt: now() }),
    in_app: inApp.map((owned) => buildInAppRecord(state, owned)),
  };
}

/** Lists all transactions, the newest first. `exclude-old-transactions` limits subscriptions to the latest one. */
function listLatestTransactions(state: StoreState, account: Account, body: Body): OwnedTransaction[] {
  const isIncluded = ({ purchase, transaction }: OwnedTransaction): boolean =>
    !body['exclude-old-transactions'] ||
    purchase.subscription === undefined ||
    transaction === getLatestTransaction(purchase);
  return listTransactions(state, account)
    .filter(isIncluded)
    .map((owned) => ({ ...owned, transaction: toDeviceTransaction(owned.transaction) }))
    .sort((a, b) => b.transaction.purchaseDate - a.transaction.purchaseDate);
}
