import { ServiceError } from '../../shared/errors.ts';
import type { StoreFetch } from '../store-context.ts';

/** A new buyer's subscription takes five calls, and the gateway in front of this service gives up after 29 s. */
const totalMs = 24_000;
/** A payment may take long, and one that was cut off is in doubt. */
const maxCallMs = 12_000;
const minReadMs = 250;
/** What changes something is not begun with less time: it would be cut off, and be in doubt until it is asked for again. */
const minWriteMs = 5_000;

/** A fetch whose calls together end before the caller gives up. Time passes here by the machine, not by the service. */
export function withRequestBudget(fetch: StoreFetch): StoreFetch {
  const end = performance.now() + totalMs;
  return async (url, init = {}) => {
    const remainingMs = Math.floor(end - performance.now());
    const isRead = (init.method ?? 'GET') === 'GET' || /\/advanced_search\w*$/.test(url);
    if (remainingMs < (isRead ? minReadMs : minWriteMs)) {
      throw new ServiceError('ConnectionFailed', 'The processor does not answer in time.');
    }
    return await fetch(url, { ...init, timeoutMs: Math.min(maxCallMs, remainingMs) });
  };
}
