import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import type { Asking } from '../store.ts';
import { answered, gatewayOf } from './client.ts';
import { readObject } from './objects.ts';

/** A token with which a client starts the processor's own form; throws `InvalidPayload` for an unknown customer. */
export async function clientToken(customerId: string | undefined, asking: Asking): Promise<string> {
  const gateway = await gatewayOf(asking);
  const result = await answered(() => gateway.clientToken.generate(customerId === undefined ? {} : { customerId }));
  if (!result.success) throw new ServiceError('InvalidPayload', 'The processor does not know this customer.');
  return readObject(v.string(), result.clientToken);
}
