import { ClaimcheckError } from './error.ts';
import { type Connection, type ConnectionOptions, requireOptions, send } from './request.ts';
import {
  type CreditChange,
  type CustomerCredits,
  type CustomerEntitlements,
  errorNumbers,
  type SpendRequest,
  type ValidationRequest,
  type ValidationResponse,
} from './types.ts';

export interface ClaimcheckOptions extends ConnectionOptions {
  /** Keep it on your server. */
  readonly secretKey: string | undefined;
  /** How long `hasEntitlement` uses an answer that gives access, in seconds (default 30). Others: at most 5 seconds. */
  readonly cacheSeconds?: number;
  /** How long the last answer is used while the service is unavailable, in seconds (default 86,400). */
  readonly outageSeconds?: number;
}

type Sandbox = { readonly sandbox?: boolean };
type Cached = { readonly answer: CustomerEntitlements; readonly sentAt: number; isStale: boolean };

const maxCachedCustomers = 10_000;
const pauseMs = 5_000;
/** Codes that prove that a purchase gives no access. */
const deniedCodes: readonly string[] = ['InvalidPayload', 'PurchaseExpired', 'PurchaseConsumed', 'NeedMoreData'];

/**
 * Calls a service for an app. The constructor throws `ClaimcheckError` with `InvalidOptions`; methods throw after three
 * attempts if the error is temporary.
 */
export class Claimcheck {
  readonly #options: ClaimcheckOptions & Connection & { readonly authorization: string };
  readonly #cache = new Map<string, Cached>();
  #pausedUntil = 0;

  constructor(options: ClaimcheckOptions) {
    requireOptions(options, ['url', 'appName', 'secretKey']);
    const credentials = new TextEncoder().encode(`${options.appName}:${options.secretKey}`);
    this.#options = { ...options, authorization: `Basic ${btoa(String.fromCharCode(...credentials))}` };
  }

  /**
   * Validates a purchase. `ok: false` proves that it gives no access. Without a proof, such as in an outage of the
   * store, it throws: keep the current access.
   */
  async validate(body: ValidationRequest): Promise<ValidationResponse> {
    const connection = { ...this.#options, timeoutMs: 6 * (this.#options.timeoutMs ?? 5_000) };
    const response = await send<ValidationResponse>(connection, '/v1/validate', body);
    if (response.ok) return response;
    const code = errorNumbers[response.code] ?? 'Unknown';
    if (deniedCodes.includes(code)) return response;
    throw new ClaimcheckError(code, response.message, response.status);
  }

  /** Reads the entitlements that a customer has or ever had, without the cache. */
  async entitlements(username: string): Promise<CustomerEntitlements> {
    return (await this.#load(username)).answer;
  }

  /**
   * Whether an entitlement is active. In an outage, the last answer counts for `outageSeconds`, and never longer than
   * the entitlement. Without an answer it throws `Unreachable`.
   */
  async hasEntitlement(username: string, name: string): Promise<boolean> {
    const { cacheSeconds = 30, outageSeconds = 86_400 } = this.#options;
    const cached = this.#cache.get(username);
    if (!cached) return isActive(await this.#load(username), name);
    const ageSeconds = (Date.now() - cached.sentAt) / 1_000;
    const known = isActive(cached, name);
    const maxAgeSeconds = cached.isStale ? 0 : Math.min(cacheSeconds, known ? cacheSeconds : 5);
    const isPaused = Date.now() < this.#pausedUntil;
    if (ageSeconds < maxAgeSeconds || (isPaused && ageSeconds < outageSeconds)) return known;
    try {
      return isActive(await this.#load(username, 1), name);
    } catch (error) {
      if (!(error instanceof ClaimcheckError && error.isTemporary && ageSeconds < outageSeconds)) throw error;
      this.#pausedUntil = Date.now() + pauseMs;
      return isActive(cached, name);
    }
  }

  /** Makes the next `hasEntitlement` send a request. Call it for each webhook about the customer. */
  invalidate(username: string): void {
    const cached = this.#cache.get(username);
    if (cached) cached.isStale = true;
  }

  readonly credits = {
    /** Reads the balances by name. */
    get: (username: string, { sandbox }: Sandbox = {}) =>
      this.#send<CustomerCredits>(username, `credits${sandbox ? '?sandbox=true' : ''}`),
    /** Spends units once for an `idempotencyKey`. Throws `Conflict` with `balance` if it does not suffice. */
    spend: (username: string, request: Omit<SpendRequest, 'hold' | 'until'>) =>
      this.#send<CreditChange>(username, 'credits/spend', request),
    /** Reserves units until `until` (ISO 8601; default: an hour, at most 30 days). `holdId` ends the hold. */
    hold: (username: string, request: Omit<SpendRequest, 'hold'>) =>
      this.#send<CreditChange>(username, 'credits/spend', { ...request, hold: true }),
    /** Spends `amount` units of a hold and releases the others. */
    capture: (username: string, holdId: string, amount: number, { sandbox }: Sandbox = {}) =>
      this.#send<CreditChange>(username, `credits/holds/${encodeURIComponent(holdId)}/capture`, { amount, sandbox }),
    /** Releases all units of a hold. */
    release: (username: string, holdId: string, { sandbox }: Sandbox = {}) =>
      this.#send<CreditChange>(username, `credits/holds/${encodeURIComponent(holdId)}/release`, { sandbox }),
  };

  async #send<T>(username: string, path: string, body?: object): Promise<T> {
    return await send<T>(this.#options, toPath(username, path), body);
  }

  async #load(username: string, attempts = 3): Promise<Cached> {
    const sentAt = Date.now();
    const connection = { ...this.#options, attempts };
    const answer = await send<CustomerEntitlements>(connection, toPath(username, 'entitlements'));
    const cached = { answer, sentAt, isStale: false };
    this.#cache.delete(username);
    const [oldest = ''] = this.#cache.keys();
    if (this.#cache.size >= maxCachedCustomers) this.#cache.delete(oldest);
    this.#cache.set(username, cached);
    return cached;
  }
}

/** Rejects a username that is steps of a path, and a visitor without a session: `null` is no customer. */
function toPath(username: string, path: string): string {
  if (/^\.{0,2}$/.test(username ?? ''))
    throw new ClaimcheckError('InvalidPayload', 'The username is empty, or only dots.');
  return `/v3/customers/${encodeURIComponent(username)}/${path}`;
}

/** The time is of the service's clock: a wrong clock of this server gives no access. */
function isActive({ answer, sentAt }: Cached, name: string): boolean {
  const entitlement = Object.hasOwn(answer.entitlements, name) ? answer.entitlements[name] : undefined;
  if (!entitlement?.isActive) return false;
  return entitlement.until === null || Date.parse(entitlement.until) > Date.parse(answer.asOf) + Date.now() - sentAt;
}
