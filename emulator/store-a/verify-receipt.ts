import * as v from 'valibot';
import { type Answer, json, type StoreCall, text } from '../http-messages.ts';
import { type Books, type Found, findTransaction, purchasesOf } from './books.ts';
import { transactionsOf } from './history.ts';
import { type ReadReceipt, readReceipt, writeReceipt } from './receipt.ts';
import { downloadRecord, inAppRecord, pendingRenewal } from './receipt-records.ts';
import { type Account, type Environment, latest } from './records.ts';
import type { Source } from './source.ts';

const Body = v.object({
  'receipt-data': v.pipe(v.string(), v.minLength(1), v.base64()),
  password: v.optional(v.string()),
  'exclude-old-transactions': v.optional(v.boolean(), false),
});
type Body = v.InferOutput<typeof Body>;

/** Answers the deprecated verifyReceipt: always HTTP 200, `status` tells how it went. */
export function answerVerifyReceipt(source: Source, call: StoreCall, environment: Environment): Answer {
  if (call.path !== '/verifyReceipt') return text(404, 'Not Found\n');
  if (call.method !== 'POST') return json(200, { status: 21000 });
  const body = v.safeParse(Body, parsed(call.body));
  if (!body.success) return json(200, { status: 21002 });
  const receipt = opened(source, body.output['receipt-data']);
  if (receipt === 'malformed') return json(200, { status: 21002 });
  const account = receipt && holderOf(source.books, receipt);
  if (receipt === undefined || account === undefined) return json(200, { status: 21003 });
  if (receipt.environment !== environment) return json(200, { status: environment === 'Production' ? 21007 : 21008 });
  const subscriptions = purchasesOf(source.books, account.id).filter(({ subscription }) => subscription !== undefined);
  const hasSecret = body.output.password === source.keys.sharedSecret;
  if (subscriptions.length > 0 && !hasSecret) return json(200, { status: 21004 });
  const about = { status: 0, environment, receipt: receiptRecord(source, receipt, account) };
  if (subscriptions.length === 0) return json(200, about);
  const fresh = writeReceipt({ books: source.books, signer: source.keys.receipts, now: source.now() }, account);
  return json(200, {
    ...about,
    latest_receipt_info: latestInfo(source.books, account, body.output).map((found) =>
      inAppRecord(source.books, found),
    ),
    latest_receipt: fresh.toString('base64'),
    pending_renewal_info: subscriptions.map(pendingRenewal),
  });
}

function opened(source: Source, base64: string): ReadReceipt | undefined | 'malformed' {
  try {
    return readReceipt(Buffer.from(base64, 'base64'), source.keys.receipts);
  } catch (thrown) {
    if (thrown instanceof RangeError) return 'malformed';
    throw thrown;
  }
}

const holderOf = ({ accounts }: Books, { appTransactionId }: ReadReceipt): Account | undefined =>
  [...accounts.values()].find((account) => account.appTransactionId === appTransactionId);

function receiptRecord({ books, now }: Source, receipt: ReadReceipt, account: Account): object {
  const inApp = receipt.transactionIds.flatMap((id) => findTransaction(books, account.environment, id) ?? []);
  return {
    ...downloadRecord(account, { createdAt: receipt.createdAt, requestedAt: now() }),
    in_app: inApp.map((found) => inAppRecord(books, found)),
  };
}

/** All transactions, the newest first; without old ones, only the latest of each subscription. */
function latestInfo(books: Books, account: Account, body: Body): Found[] {
  const isWanted = ({ purchase, transaction }: Found): boolean =>
    !body['exclude-old-transactions'] || purchase.subscription === undefined || transaction === latest(purchase);
  return transactionsOf(books, account)
    .filter(isWanted)
    .sort((a, b) => b.transaction.purchaseDate - a.transaction.purchaseDate);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
