import { ServiceError } from '../../errors.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Asking, Validation, ValidationRequest } from '../store.ts';
import { type Charged, charge, recover } from './charge.ts';
import { gatewayOf } from './client.ts';
import { orderOf } from './order.ts';
import { originOf } from './origin.ts';
import { subscriptionObservation } from './subscription.ts';
import { transactionObservation } from './transaction.ts';

/** Charges the nonce, at most once, and tells what was bought with it. */
export async function validate(request: ValidationRequest, asking: Asking): Promise<Validation> {
  const order = orderOf(request, asking);
  const gateway = await gatewayOf(asking);
  const { productId, customerId } = order;
  const charged = (outcome: object): Charged => ({ ...outcome, productId, customerId, at: asking.now() });
  const result = await asking.once<Charged>(
    order.key,
    async () => charged(await charge(gateway, order)),
    async () => {
      const outcome = await recover(gateway, order);
      return outcome && charged(outcome);
    },
  );
  return validationOf(request.id, result, asking);
}

function validationOf(id: string, result: Charged, asking: Asking): Validation {
  const { productId, refusal, subscription, transaction, customerId, at } = result;
  if (productId !== id) throw new ServiceError('InvalidPayload', 'The nonce was used for another product.');
  if (refusal !== undefined) throw new ServiceError('InvalidPayload', refusal);
  const origin = originOf(asking, { productId, customerId, at });
  const observation = subscription
    ? subscriptionObservation(subscription, [], origin)
    : transaction && transactionObservation(transaction, [], origin);
  if (!observation) throw new ServiceError('InternalError', 'Nothing is known of the payment.');
  // A trial has taken no payment yet, but clients read the customer from one.
  const payment = transaction ?? subscription?.transactions[0] ?? { id: subscription?.id, status: 'authorized' };
  const native = { ...payment, customer: { id: customerId } };
  return {
    id: productId,
    about: 'product',
    observations: [observation],
    purchaseId: prefixed('processor_b', subscription?.id ?? transaction?.id ?? ''),
    native: { data: { success: true, transaction: native } },
    ineligibleForIntroPrice: [],
  };
}
