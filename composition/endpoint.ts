import { createRejectionLimiter } from '../lib/apps/rejection-limiter.ts';
import { createRequestLimiter } from '../lib/apps/request-limiter.ts';
import { createTokenBucketRepository } from '../lib/db/token-bucket-repository.ts';
import { appKey } from '../lib/foundation/keys.ts';
import { createHandlerFactory } from '../lib/http/endpoint.ts';
import { once } from '../lib/shared/once.ts';
import { appCache } from './apps.ts';
import { clientOptions, now } from './environment.ts';
import { events } from './events.ts';
import { table } from './table.ts';
import { registerWarmUp } from './warm-up.ts';

export const rejectionLimiter = once(() => createRejectionLimiter(createTokenBucketRepository(table()), now));
export const requestLimiter = once(() => createRequestLimiter(createTokenBucketRepository(table()), now));

/** Creates the handler of a contract. The members are read when a request needs them. */
export const createHandler = createHandlerFactory({
  now,
  get appCache() {
    return appCache();
  },
  get events() {
    return events();
  },
  get rejectionLimiter() {
    return rejectionLimiter();
  },
  get requestLimiter() {
    return requestLimiter();
  },
});

// Compiles the calls of the table, and connects to it. No app has an empty name.
registerWarmUp(
  async () => await (await import('../lib/foundation/rehearse-table-calls.ts')).rehearseTableCalls(clientOptions()),
  async () => await table().get(appKey('')),
);
