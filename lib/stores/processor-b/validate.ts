import { ServiceError } from '../../shared/errors.ts';
import { withPlatform } from '../../purchases/platform.ts';
import type { StoreContext, StoreValidation, ValidationRequest } from '../store.ts';
import { type ChargeRecord, charge, recoverCharge } from './charge.ts';
import { createGateway } from './braintree-client.ts';
import { parseOrder } from './order.ts';
import { createMappingContext } from './mapping-context.ts';
import { toSubscriptionObservation } from './subscription-observation.ts';
import { toPaymentObservation } from './payment-observation.ts';

/** Charges the nonce, at most once, and tells what was bought with it. */
export async function validate(request: ValidationRequest, asking: StoreContext): Promise<StoreValidation> {
  const order = parseOrder(request, asking);
  const gateway = await createGateway(asking);
  const { productId, customerId } = order;
  const toChargeRecord = (outcome: object): ChargeRecord => ({ ...outcome, productId, customerId, at: asking.now() });
  const result = await asking.runOnce<ChargeRecord>(
    order.key,
    async () => toChargeRecord(await charge(gateway, order)),
    async () => {
      const outcome = await recoverCharge(gateway, order);
      return outcome && toChargeRecord(outcome);
    },
  );
  return toValidation(request.id, result, asking);
}

function toValidation(id: string, result: ChargeRecord, asking: StoreContext): StoreValidation {
  const { productId, declineMessage: refusal, subscription, transaction, customerId, at } = result;
  if (productId !== id) throw new ServiceError('InvalidPayload', 'The nonce was used for another product.');
  if (refusal !== undefined) throw new ServiceError('InvalidPayload', refusal);
  const origin = createMappingContext(asking, { productId, customerId, at });
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
