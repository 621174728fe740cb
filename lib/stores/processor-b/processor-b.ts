import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { Asking, Store } from '../store.ts';
import { answered, gatewayOf } from './client.ts';
import { missedSince } from './missed.ts';
import { noticed } from './notice.ts';
import { readObject } from './objects.ts';
import { refresh } from './refresh.ts';
import { ProcessorBSettings } from './settings.ts';
import { validate } from './validate.ts';
import { received } from './webhook.ts';

/** Braintree. Validation makes the purchase instead of only checking it. */
export const processorB: Store = {
  platform: 'processor_b',
  validate,
  checkSettings,
  refresh,
  receive: received,
  observe: noticed,
  missed: missedSince,
};

const Plans = v.array(v.object({ id: v.string() }));

async function checkSettings(asking: Asking, { askStore }: { readonly askStore: boolean }): Promise<string> {
  const { catalogue } = parse(ProcessorBSettings, asking.settings);
  if (!askStore) return 'The settings are complete; the processor was not asked.';
  const gateway = await gatewayOf(asking);
  const plans = new Set(readObject(Plans, await answered(() => gateway.plan.all())).map(({ id }) => id));
  for (const [productId, { planId }] of Object.entries(catalogue)) {
    if (planId !== undefined && !plans.has(planId)) {
      throw new ServiceError('InternalError', `The processor has no plan ${planId}, which ${productId} needs.`);
    }
  }
  return 'The processor accepts the keys and has every plan of the catalogue.';
}
