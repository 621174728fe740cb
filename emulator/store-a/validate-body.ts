import { refusal } from '../refusal.ts';
import { userUuid } from '../user-token.ts';
import { app } from './app.ts';
import { type Found, productNamed } from './books.ts';
import { writeReceipt } from './receipt.ts';
import { type ApiSource, signedTransaction } from './server-api.ts';

/** How a client can put a purchase: the signed transaction or the receipt, for the application or for the product. */
const forms = ['signed', 'receipt', 'product', 'product-receipt'] as const;
type Form = (typeof forms)[number];

/** The body that a client posts to have the purchase validated now, in the words that clients use. */
export function validateBody(source: ApiSource, found: Found, form = 'signed'): Readonly<Record<string, unknown>> {
  if (!isForm(form)) throw refusal(400, `form: expected one of ${forms.join(', ')}.`);
  const { account, transaction } = found;
  const { type } = productNamed(source.books, transaction.productId);
  const isForProduct = form === 'product' || form === 'product-receipt';
  const isReceipt = form === 'receipt' || form === 'product-receipt';
  return {
    id: isForProduct ? transaction.productId : app.bundleId,
    type: isForProduct ? type : 'application',
    transaction: isReceipt ? receiptOf(source, found) : signedOf(source, found),
    ...additionalData(account.applicationUsername),
  };
}

const isForm = (form: string): form is Form => (forms as readonly string[]).includes(form);

const signedOf = (source: ApiSource, found: Found): object => ({
  type: 'apple-sk2',
  id: found.transaction.productId,
  jwsRepresentation: signedTransaction(source, found),
});

function receiptOf({ books, keys, now }: ApiSource, { account, transaction }: Found): object {
  const receipt = writeReceipt({ books, signer: keys.receipts, now: now() }, account);
  return { type: 'ios-appstore', id: transaction.transactionId, appStoreReceipt: receipt.toString('base64') };
}

const additionalData = (applicationUsername: string | undefined): object =>
  applicationUsername === undefined
    ? {}
    : { additionalData: { applicationUsername, obfuscatedUsername: userUuid(applicationUsername) } };
