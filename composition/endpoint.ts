import { createRejectionLimiter } from '../lib/apps/rejection-limiter.ts';
import { createRequestLimiter } from '../lib/apps/request-limiter.ts';
import { createTokenBucketRepository } from '../lib/db/token-bucket-repository.ts';
import { createHandlerFactory } from '../lib/http/endpoint.ts';
import { once } from '../lib/shared/once.ts';
import { appCache } from './apps.ts';
import { now } from './environment.ts';
import { events } from './events.ts';
import { table } from './table.ts';

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
