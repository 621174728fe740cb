import * as v from 'valibot';
import { type HttpResponse, jsonResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { createReceipt, type ParsedReceipt, parseReceipt } from './receipt.ts';
import { buildInAppRecord, buildPendingRenewal, buildReceiptRecord } from './receipt-records.ts';
import { type Account, type Environment, getLatestTransaction } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { findTransaction, listPurchases, type OwnedTransaction, type StoreState } from './store-state.ts';
import { listTransactions } from './transaction-history.ts';

const Body = v.object({
  'receipt-data': v.pipe(v.string(), v.minLength(1), v.base64()),
  password: v.optional(v.string()),
  'exclude-old-transactions': v.optional(v.boolean(), false),
});
type Body = v.InferOutput<typeof Body>;

/** Answers the deprecated verifyReceipt: always HTTP 200, `status` tells how it went. */
export function handleVerifyReceipt(
  context: ResponseContext,
  call: StoreHttpRequest,
  environment: Environment,
): HttpResponse {
  if (call.path !== '/verifyReceipt') return textResponse(404, 'Not Found\n');
  if (call.method !== 'POST') return jsonResponse(200, { status: 21000 });
  const body = v.safeParse(Body, parseJson(call.body));
  if (!body.success) return jsonResponse(200, { status: 21002 });
  const receipt = parseReceiptOrFail(context, body.output['receipt-data']);
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
  const about = { status: 0, environment, receipt: receiptRecord(context, receipt, account) };
  if (subscriptions.length === 0) return jsonResponse(200, about);
  const fresh = createReceipt({ state: context.state, signer: context.keys.receipts, now: context.now() }, account);
  return jsonResponse(200, {
    ...about,
    latest_receipt_info: latestInfo(context.state, account, body.output).map((found) =>
      buildInAppRecord(context.state, found),
    ),
    latest_receipt: fresh.toString('base64'),
    pending_renewal_info: subscriptions.map(buildPendingRenewal),
  });
}

function parseReceiptOrFail(context: ResponseContext, base64: string): ParsedReceipt | undefined | 'malformed' {
  try {
    return parseReceipt(Buffer.from(base64, 'base64'), context.keys.receipts);
  } catch (error) {
    if (error instanceof RangeError) return 'malformed';
    throw error;
  }
}

const findReceiptAccount = ({ accounts }: StoreState, { appTransactionId }: ParsedReceipt): Account | undefined =>
  [...accounts.values()].find((account) => account.appTransactionId === appTransactionId);

function receiptRecord({ state, now }: ResponseContext, receipt: ParsedReceipt, account: Account): object {
  const inApp = receipt.transactionIds.flatMap((id) => findTransaction(state, account.environment, id) ?? []);
  return {
    ...buildReceiptRecord(account, { createdAt: receipt.createdAt, requestedAt: now() }),
    in_app: inApp.map((found) => buildInAppRecord(state, found)),
  };
}

/** All transactions, the newest first; without old ones, only the latest of each subscription. */
function latestInfo(state: StoreState, account: Account, body: Body): OwnedTransaction[] {
  const isWanted = ({ purchase, transaction }: OwnedTransaction): boolean =>
    !body['exclude-old-transactions'] ||
    purchase.subscription === undefined ||
    transaction === getLatestTransaction(purchase);
  return listTransactions(state, account)
    .filter(isWanted)
    .sort((a, b) => b.transaction.purchaseDate - a.transaction.purchaseDate);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
