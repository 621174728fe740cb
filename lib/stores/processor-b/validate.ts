import { ServiceError } from '../../shared/errors.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { StoreValidation, ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { createGateway } from './braintree-client.ts';
import { type ChargeRecord, charge, recoverCharge } from './charge.ts';
import { createMappingContext } from './mapping-context.ts';
import { parseOrder } from './order.ts';
import { toPaymentObservation } from './payment-observation.ts';
import { toSubscriptionObservation } from './subscription-observation.ts';

/** Charges a nonce at most once. Returns the purchase that it paid for. */
export async function validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation> {
  const order = parseOrder(request, context);
  const gateway = await createGateway(context);
  const { productId, customerId } = order;
  const toChargeRecord = (outcome: object): ChargeRecord => ({ ...outcome, productId, customerId, at: context.now() });
  const record = await context.runOnce<ChargeRecord>(
    order.key,
    async () => toChargeRecord(await charge(gateway, order)),
    async () => {
      const outcome = await recoverCharge(gateway, order);
      return outcome && toChargeRecord(outcome);
    },
  );
  return toValidation(request.id, record, context);
}

function toValidation(id: string, record: ChargeRecord, context: StoreContext): StoreValidation {
  const { productId, declineMessage, subscription, transaction, customerId, at } = record;
  if (productId !== id) throw new ServiceError('InvalidPayload', 'paymentMethodNonce was used for another product.');
  if (declineMessage !== undefined) throw new ServiceError('InvalidPayload', declineMessage);
  const mapping = createMappingContext(context, { productId, customerId, asOf: at });
  const observation = subscription
    ? toSubscriptionObservation(subscription, [], mapping)
    : transaction && toPaymentObservation(transaction, [], mapping);
  if (!observation) throw new ServiceError('InternalError', 'The payment is missing in the stored result.');
  // Clients read the customer from the transaction, but a trial does not have one yet.
  const payment = transaction ?? subscription?.transactions[0] ?? { id: subscription?.id, status: 'authorized' };
  const native = { ...payment, customer: { id: customerId } };
  return {
    id: productId,
    scope: 'product',
    observations: [observation],
    purchaseId: withPlatform('processor_b', subscription?.id ?? transaction?.id ?? ''),
    nativeTransaction: { data: { success: true, transaction: native } },
    ineligibleForIntroPrice: [],
  };
}
