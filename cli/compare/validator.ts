import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { parse } from '../../lib/foundation/parse.ts';
import { secondMs } from '../../lib/foundation/time.ts';
import {
  CustomerPurchases,
  fromCustomerPurchases,
  fromValidationResponse,
  ValidationResponse,
  type ValidatorResult,
} from './validator-result.ts';

/** The address and the credentials of a validator. */
export interface ValidatorOptions {
  /** Starts the messages about it: `This service`. */
  readonly title: string;
  readonly url: string;
  readonly appName: string;
  /** Public key for validations, secret or viewer key for customers. */
  readonly key: string;
  /** Maximum time for the retries of a request. */
  readonly maxWaitMs: number;
  readonly signal: AbortSignal;
}

/**
 * A validator of the contract. Its methods throw a `ServiceError` if the result is missing: the row is not compared
 * then.
 */
export interface Validator {
  readonly title: string;
  validate(body: object): Promise<ValidatorResult>;
  listPurchases(username: string): Promise<ValidatorResult>;
}

const requestTimeoutMs = 30 * secondMs;
const baseDelayMs = secondMs;
const maxDelayMs = 15 * secondMs;

export function createValidator(options: ValidatorOptions): Validator {
  const { title, url, appName, key } = options;
  const headers = {
    authorization: `Basic ${Buffer.from(`${appName}:${key}`).toString('base64')}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
  const send = async (path: string, body?: object): Promise<Response> => {
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const timeout = AbortSignal.timeout(requestTimeoutMs);
    return await fetch(url + path, { ...init, headers, redirect: 'error', signal: timeout }).catch((cause: unknown) => {
      throw new ServiceError('ConnectionFailed', `${title} does not respond.`, { cause });
    });
  };
  return {
    title,
    async validate(body) {
      const response = await retry(options, async () => {
        const response = await send('/v1/validate', body);
        const validated = parseResponse(ValidationResponse, await readResponse(response, title), title);
        throwIfNoResult(validated, title);
        return validated;
      });
      return fromValidationResponse(response, Date.now());
    },
    async listPurchases(username) {
      const path = `/v3/customers/${encodeURIComponent(username)}/purchases`;
      const response = await retry(options, async () => {
        const content = await readResponse(await send(path), title, { toleratesUnknownCustomer: true });
        return content === undefined ? noPurchases : parseResponse(CustomerPurchases, content, title);
      });
      return fromCustomerPurchases(response, Date.now());
    },
  };
}

const noPurchases: CustomerPurchases = { purchases: {} };

/**
 * Throws `ConnectionFailed` for a status that a later request can change, and `Forbidden` for another failure. Returns
 * undefined for an unknown customer if that is tolerated.
 */
async function readResponse(
  response: Response,
  title: string,
  { toleratesUnknownCustomer = false } = {},
): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    throw new ServiceError('ConnectionFailed', `${title} does not respond.`, { cause });
  });
  const { status } = response;
  if (status === 429 || status >= 500)
    throw new ServiceError('ConnectionFailed', `${title} responded with status ${status}.`);
  const content = parseText(text);
  if (toleratesUnknownCustomer && status === 404 && isUnknownCustomer(content)) return undefined;
  if (!response.ok)
    throw new ServiceError('Forbidden', `${title} responded with status ${status}. Check its URL, app and key.`);
  if (content === undefined) throw new ServiceError('ConnectionFailed', `The response of ${title} is not JSON.`);
  return content;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const Failure = v.object({ ok: v.literal(false), code: v.optional(v.unknown()) });

/** Status 404 can be a failure of the contract for another reason than the app. A wrong path has another format. */
const isUnknownCustomer = (content: unknown): boolean => v.is(Failure, content) && !rejectedKeyCodes.has(content.code);

function parseResponse<S extends v.GenericSchema>(schema: S, response: unknown, title: string): v.InferOutput<S> {
  if (v.is(schema, response)) return parse(schema, response);
  throw new ServiceError('ConnectionFailed', `The response of ${title} has another format.`);
}

/** Codes of validations that failed for another reason than the purchase. The form is a name or a number. */
const temporaryCodes: ReadonlySet<unknown> = new Set([
  'ConnectionFailed',
  6778002,
  'InternalError',
  6778005,
  'Unknown',
  6778007,
  'DatabaseError',
  7691004,
]);
const rejectedKeyCodes: ReadonlySet<unknown> = new Set(['Forbidden', 7691003, 'AppNotFound', 7691001]);

function throwIfNoResult({ ok, code, message = '' }: ValidationResponse, title: string): void {
  if (ok) return;
  if (temporaryCodes.has(code)) throw new ServiceError('ConnectionFailed', `${title} has no result: ${message}`);
  // `Invalid access token` is a result of a purchase at Stripe.
  if (rejectedKeyCodes.has(code) && !/access token/i.test(message))
    throw new ServiceError('Forbidden', `${title} rejected the app or its key: ${message}`);
}

async function retry<T>({ maxWaitMs, signal }: ValidatorOptions, run: () => Promise<T>): Promise<T> {
  const end = performance.now() + maxWaitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      const delayMs = Math.min(maxDelayMs, baseDelayMs * 2 ** attempt) * (0.5 + Math.random() / 2);
      const isTemporary = error instanceof ServiceError && error.code === 'ConnectionFailed';
      if (!isTemporary || performance.now() + delayMs > end || signal.aborted) throw error;
      await setTimeout(delayMs, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}
