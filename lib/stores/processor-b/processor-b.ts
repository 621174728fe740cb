import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import type { Store } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { callBraintree, createGateway } from './braintree-client.ts';
import { listUndelivered } from './list-undelivered.ts';
import { observe } from './observe.ts';
import { parseBraintreeObject } from './payloads.ts';
import { receive } from './receive.ts';
import { refresh } from './refresh.ts';
import { ProcessorBSettings } from './settings.ts';
import { validate } from './validate.ts';

/** Braintree. Validation makes the purchase instead of only checking it. */
export const processorB: Store = {
  platform: 'processor_b',
  validate,
  checkSettings,
  refresh,
  receive,
  observe,
  listUndelivered,
};

const Plans = v.array(v.object({ id: v.string() }));

async function checkSettings(context: StoreContext, { callStore }: { readonly callStore: boolean }): Promise<string> {
  const { catalogue } = parse(ProcessorBSettings, context.settings);
  if (!callStore) return 'The settings are complete; the processor was not asked.';
  const gateway = await createGateway(context);
  const plans = new Set(parseBraintreeObject(Plans, await callBraintree(() => gateway.plan.all())).map(({ id }) => id));
  for (const [productId, { planId }] of Object.entries(catalogue)) {
    if (planId !== undefined && !plans.has(planId)) {
      throw new ServiceError('InternalError', `The processor has no plan ${planId}, which ${productId} needs.`);
    }
  }
  return 'The processor accepts the keys and has every plan of the catalogue.';
}
