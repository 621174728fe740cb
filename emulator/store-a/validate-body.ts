import { controlError } from '../control-error.ts';
import { toUserUuid } from '../user-uuid.ts';
import { app } from './app.ts';
import { createReceipt } from './receipt.ts';
import { type ResponseContext, signAppTransaction, signTransaction } from './response-context.ts';
import { getProduct, type OwnedTransaction } from './store-state.ts';

/**
 * What a client can send: the signed transaction or the receipt, for the application or for the product; or the signed
 * download of the application.
 */
const forms = ['signed', 'receipt', 'product', 'product-receipt', 'download'] as const;
type Form = (typeof forms)[number];

/** The body that a client posts to have the purchase validated now, in the words that clients use. */
export function buildValidateBody(
  context: ResponseContext,
  found: OwnedTransaction,
  form = 'signed',
): Readonly<Record<string, unknown>> {
  if (!isForm(form)) throw controlError(400, `form: expected one of ${forms.join(', ')}.`);
  const { account, transaction } = found;
  const product = getProduct(context.state, transaction.productId);
  const isForProduct = form === 'product' || form === 'product-receipt';
  return {
    id: isForProduct ? transaction.productId : app.bundleId,
    type: isForProduct ? product.type : 'application',
    transaction: evidence[form](context, found),
    ...(isForProduct && product.type === 'non renewing subscription' && billingPeriod(product.period)),
    ...additionalData(account.applicationUsername),
  };
}

const isForm = (form: string): form is Form => (forms as readonly string[]).includes(form);

const buildSignedForm = (context: ResponseContext, found: OwnedTransaction): object => ({
  type: 'apple-sk2',
  id: found.transaction.productId,
  jwsRepresentation: signTransaction(context, found),
});

function receipt({ state, keys, now }: ResponseContext, { account, transaction }: OwnedTransaction): object {
  const der = createReceipt({ state, signer: keys.receipts, now: now() }, account);
  return { type: 'ios-appstore', id: transaction.transactionId, appStoreReceipt: der.toString('base64') };
}

const download = (context: ResponseContext, { account }: OwnedTransaction): object => ({
  type: 'apple-sk2',
  id: app.bundleId,
  jwsRepresentation: signAppTransaction(context, account),
});

const evidence: Readonly<Record<Form, (context: ResponseContext, found: OwnedTransaction) => object>> = {
  signed: buildSignedForm,
  receipt,
  product: buildSignedForm,
  'product-receipt': receipt,
  download,
};

/** The store knows no end of a subscription that does not renew: the client says how long its period is. */
function billingPeriod(period = ''): object {
  const [, count, unit = ''] = /^P(\d+)([DWMY])$/.exec(period) ?? [];
  return count === undefined ? {} : { billingPeriod: Number(count), billingPeriodUnit: units[unit] };
}

const units: Readonly<Record<string, string>> = { D: 'Day', W: 'Week', M: 'Month', Y: 'Year' };

const additionalData = (applicationUsername: string | undefined): object =>
  applicationUsername === undefined
    ? {}
    : { additionalData: { applicationUsername, obfuscatedUsername: toUserUuid(applicationUsername) } };
