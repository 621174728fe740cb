import { getProduct } from '../product.ts';
import { toUserUuid } from '../user-uuid.ts';
import { buildAdditionalData, parseForm, toBillingPeriod } from '../validate-body.ts';
import { app } from './app.ts';
import { createReceipt } from './receipt.ts';
import { type ResponseContext, signAppTransaction, signTransaction } from './response-context.ts';
import type { OwnedTransaction } from './store-state.ts';

/**
 * Evidence of a `validate` body: signed transaction (`signed`, `product`), app receipt (`receipt`, `product-receipt`)
 * or app transaction (`download`). The forms `product…` name the product instead of the app.
 */
const forms = ['signed', 'receipt', 'product', 'product-receipt', 'download'] as const;
type Form = (typeof forms)[number];

/** Builds the body that a client posts to `/v1/validate`. Throws 400 for an unknown form. */
export function buildValidateBody(
  context: ResponseContext,
  owned: OwnedTransaction,
  form = 'signed',
): Readonly<Record<string, unknown>> {
  const parsedForm = parseForm(forms, form);
  const { account, transaction } = owned;
  const product = getProduct(context.state, transaction.productId);
  const isForProduct = parsedForm === 'product' || parsedForm === 'product-receipt';
  return {
    id: isForProduct ? transaction.productId : app.bundleId,
    type: isForProduct ? product.type : 'application',
    transaction: evidence[parsedForm](context, owned),
    // The store does not return the end of a non-renewing subscription, so the client submits its period.
    ...(isForProduct && product.type === 'non renewing subscription' && toBillingPeriod(product.period)),
    ...buildAdditionalData(account.applicationUsername, toUserUuid),
  };
}

const buildSignedTransaction = (context: ResponseContext, owned: OwnedTransaction): object => ({
  type: 'apple-sk2',
  id: owned.transaction.productId,
  jwsRepresentation: signTransaction(context, owned),
});

function buildReceipt({ state, keys, now }: ResponseContext, { account, transaction }: OwnedTransaction): object {
  const der = createReceipt({ state, signer: keys.receipts, now: now() }, account);
  return { type: 'ios-appstore', id: transaction.transactionId, appStoreReceipt: der.toString('base64') };
}

const buildAppTransaction = (context: ResponseContext, { account }: OwnedTransaction): object => ({
  type: 'apple-sk2',
  id: app.bundleId,
  jwsRepresentation: signAppTransaction(context, account),
});

const evidence: Readonly<Record<Form, (context: ResponseContext, owned: OwnedTransaction) => object>> = {
  signed: buildSignedTransaction,
  receipt: buildReceipt,
  product: buildSignedTransaction,
  'product-receipt': buildReceipt,
  download: buildAppTransaction,
};
