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

/** Charges the nonce, at most once, and tells what was bought with it. */
export async function validate(request: ValidationRequest, context: StoreContext): Promise<StoreValidation> {
  const order = parseOrder(request, context);
  const gateway = await createGateway(context);
  const { productId, customerId } = order;
  const toChargeRecord = (outcome: object): ChargeRecord => ({ ...outcome, productId, customerId, at: context.now() });
  const result = await context.runOnce<ChargeRecord>(
    order.key,
    async () => toChargeRecord(await charge(gateway, order)),
    async () => {
      const outcome = await recoverCharge(gateway, order);
      return outcome && toChargeRecord(outcome);
    },
  );
  return toValidation(request.id, result, context);
}

function toValidation(id: string, result: ChargeRecord, context: StoreContext): StoreValidation {
  const { productId, declineMessage, subscription, transaction, customerId, at } = result;
  if (productId !== id) throw new ServiceError('InvalidPayload', 'The nonce was used for another product.');
  if (declineMessage !== undefined) throw new ServiceError('InvalidPayload', declineMessage);
  const origin = createMappingContext(context, { productId, customerId, at });
  const observation = subscription
    ? toSubscriptionObservation(subscription, [], origin)
    : transaction && toPaymentObservation(transaction, [], origin);
  if (!observation) throw new ServiceError('InternalError', 'Nothing is known of the payment.');
  // A trial has taken no payment yet, but clients read the customer from one.
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
