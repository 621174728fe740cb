import { type Answer, json, type StoreCall, text } from '../http-messages.ts';
import { answerServerApi, type Developing } from './server-api.ts';
import { answerVerifyReceipt } from './verify-receipt.ts';

const rateLimitMs = 30_000;

const hosts = {
  'api.storekit.apple.com': { environment: 'Production', answer: answerServerApi },
  'api.storekit-sandbox.apple.com': { environment: 'Sandbox', answer: answerServerApi },
  'buy.itunes.apple.com': { environment: 'Production', answer: answerVerifyReceipt },
  'sandbox.itunes.apple.com': { environment: 'Sandbox', answer: answerVerifyReceipt },
} as const;

/** The host names of the store. */
export const hostNames = Object.keys(hosts) as readonly (keyof typeof hosts)[];

/** Answers whatever is asked of one of the store's hosts. */
export function answerCall(source: Developing, call: StoreCall): Answer {
  const name = hostNames.find((host) => host === call.host);
  if (name === undefined) return text(404, 'Not Found\n');
  const { environment, answer } = hosts[name];
  return answer(source, call, environment);
}

/** The answer during an outage. */
export const unavailable = (): Answer => text(503, 'Service Unavailable\n');

/** The answer beyond the rate limit; Retry-After is the moment to come back, in epoch milliseconds. */
export const rateLimited = (now: number): Answer =>
  json(429, { errorCode: 4290000, errorMessage: 'Rate limit exceeded.' }, { 'retry-after': String(now + rateLimitMs) });
