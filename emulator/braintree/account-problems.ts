import type { EmulatedStore } from '../emulated-store.ts';
import { emptyResponse } from './responses.ts';

/**
 * Problems of an account at Braintree. `no-permission`: the role of the user who owns the API keys does not allow the
 * request.
 *
 * @see https://developer.paypal.com/braintree/docs/reference/general/exceptions/node
 */
export const accountProblems: EmulatedStore['accountProblems'] = {
  'no-permission': () => emptyResponse(403),
};
