import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { microsoftStore } from '../../../../lib/stores/microsoft-store/microsoft-store.ts';
import { withRequestBudget } from '../../../../lib/stores/microsoft-store/session.ts';
import type { ValidationRequest } from '../../../../lib/stores/store.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { startBeforeAll } from '../../../../testing/start-before-all.ts';
import { createManualStopwatch } from '../../../../testing/stopwatch.ts';
import { createContext, createFetch, createResponse, startMicrosoft } from './fake-microsoft.ts';

const microsoft = startBeforeAll(startMicrosoft);
let subscription: ValidationRequest;
let item: ValidationRequest;
beforeAll(async () => {
  subscription = (await microsoft.createPurchase({ productId: 'subscription' })).body;
  item = (await microsoft.createPurchase({ productId: 'item', type: 'non consumable' })).body;
});
beforeEach(() => microsoft.control('DELETE', '/control/faults'));

/** Settings whose access tokens are not cached yet. */
const createUniqueSettings = () => ({ ...microsoft.settings('store_c'), tenantId: `tenant-${Math.random()}` });

/** Validates against services that return this response, with a working token endpoint. */
const validateAgainst = (response: { status?: number; text: string }, body = subscription) =>
  microsoftStore.validate(
    body,
    createContext(
      createFetch(() => response),
      createUniqueSettings(),
    ),
  );

describe('validate (Microsoft Store) during an outage', () => {
  it.each(['down', 'rate-limited', 'html', 'cut'])('throws ConnectionFailed if the store is %s', async (fault) => {
    for (const body of [subscription, item]) {
      await microsoft.addFault({ fault });
      await expect(microsoft.validate(body)).rejects.toMatchObject({ code: 'ConnectionFailed', number: 6778002 });
    }
  });

  it.each([
    ['an HTML page', 200, '<!DOCTYPE html><html></html>'],
    ['an empty body', 200, ''],
    ['another format', 200, '{"value":[]}'],
    ['malformed items', 200, '{"items":[1]}'],
    ['an item without its product', 200, '{"items":[{"id":"1"}]}'],
    ['an empty response', 204, ''],
    ['a redirect', 302, ''],
    ['an internal error', 500, '{"code":"InternalServerError"}'],
    ['a rate limit', 429, '{"code":"TooManyRequests"}'],
    ['a gateway timeout', 504, '<html></html>'],
    ['an HTML page with status 403', 403, '<html></html>'],
    ['a conflict', 409, '{"code":"Conflict"}'],
  ])('throws ConnectionFailed for %s', async (_case, status, text) => {
    for (const body of [subscription, item]) {
      await expect(validateAgainst({ status, text }, body)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    }
  });

  it.each([
    [500, 'oops'],
    [429, '{}'],
    [200, '<html></html>'],
    [200, '{"token_type":"Bearer"}'],
    [400, '<html></html>'],
  ])('throws ConnectionFailed if Entra returns %i %s', async (status, text) => {
    const context = createContext(async () => createResponse({ status, text }), createUniqueSettings());
    await expect(microsoftStore.validate(subscription, context)).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });

  it('limits each call to 5 s and stops after 100 pages without a result', async () => {
    const timeouts: number[] = [];
    const context = createContext(
      createFetch((_url, { timeoutMs = Number.POSITIVE_INFINITY }) => {
        timeouts.push(timeoutMs);
        return { text: '{"items":[],"continuationToken":"more"}' };
      }),
      createUniqueSettings(),
    );
    await expect(microsoftStore.validate(subscription, context)).rejects.toMatchObject({ code: 'ConnectionFailed' });
    expect(Math.max(...timeouts)).toBeLessThanOrEqual(5_000);
    expect(timeouts).toHaveLength(100);
  });
});

describe('withRequestBudget (Microsoft Store)', () => {
  it('throws ConnectionFailed without a call after 11 s', async () => {
    const stopwatch = createManualStopwatch();
    const fail = async () => {
      throw new Error('unexpected call');
    };
    const fetch = withRequestBudget({ fetch: fail, stopwatch });
    stopwatch.advance(11_000);
    await expect(fetch('https://login.microsoftonline.com')).rejects.toMatchObject({
      code: 'ConnectionFailed',
      message: 'The Microsoft Store is unavailable. Try again later.',
    });
  });
});

describe('credentials (Microsoft Store)', () => {
  it.each([
    [{ clientSecret: 'wrong' }, /: clientSecret is not valid\.$/],
    [{ tenantId: 'another' }, /: tenantId or clientId is not found\.$/],
  ])('throws InternalError if Entra rejects %j', async (settings, message) => {
    const error = { code: 'InternalError', message: expect.stringMatching(message) };
    const { license: _license, ...body } = subscription;
    await expect(microsoft.validate(body, settings)).rejects.toMatchObject(error);
    const context = microsoft.createContext(settings);
    await expect(microsoftStore.checkSettings(context, { callStore: true })).rejects.toMatchObject(error);
  });

  it.each([
    ['PartnerAadTicketRequired', 401, /Partner Center/],
    ['InconsistentClientId', 401, /clientId/],
    ['SomethingElse', 403, /Partner Center/],
  ])('throws InternalError if the services reject them with %s', async (code, status, message) => {
    const text = JSON.stringify({ code: 'Unauthorized', innererror: { code } });
    await expect(validateAgainst({ status, text })).rejects.toMatchObject({
      code: 'InternalError',
      message: expect.stringMatching(message),
    });
    await expect(validateAgainst({ status, text: JSON.stringify({ code }) })).rejects.toMatchObject({
      code: 'InternalError',
    });
  });

  it('requests an access token once an hour and after a rejection', async () => {
    const settings = createUniqueSettings();
    let tokenCount = 0;
    let status = 200;
    let now = 0;
    const fetch: StoreFetch = async (url) => {
      if (!url.startsWith('https://login.'))
        return createResponse({ status, text: '{"items":[],"code":"Unauthorized"}' });
      tokenCount += 1;
      return createResponse({ text: '{"access_token":"token","expires_in":"3599"}' });
    };
    const validate = () => microsoftStore.validate(subscription, { ...createContext(fetch, settings), now: () => now });
    for (const [time, expectedCount] of [
      [0, 1],
      [3_538_000, 1],
      [3_540_000, 2],
    ] as const) {
      now = time;
      await validate();
      expect(tokenCount).toBe(expectedCount);
    }
    status = 403;
    await expect(validate()).rejects.toMatchObject({ code: 'InternalError' });
    status = 200;
    await validate();
    expect(tokenCount).toBe(3);
  });
});

describe('checkSettings (Microsoft Store)', () => {
  it('accepts valid settings', async () => {
    const context = microsoft.createContext();
    expect(await microsoftStore.checkSettings(context, { callStore: false })).toMatch(/format is valid/);
    expect(await microsoftStore.checkSettings(context, { callStore: true })).toMatch(/tickets/);
  });

  it.each([
    [{ tenantId: 'a/b' }, /tenantId/],
    [{ clientSecret: '' }, /clientSecret/],
    [{ consume: 'yes' }, /consume/],
  ])('rejects %j with the name of the field', async (changes, message) => {
    const context = microsoft.createContext(changes);
    await expect(microsoftStore.checkSettings(context, { callStore: false })).rejects.toMatchObject({
      code: 'InvalidPayload',
      message: expect.stringMatching(message),
    });
    await expect(microsoftStore.validate(subscription, context)).rejects.toMatchObject({ code: 'InternalError' });
  });

  it('rejects missing settings', async () => {
    const context = { ...microsoft.createContext(), settings: undefined };
    await expect(microsoftStore.validate(subscription, context)).rejects.toMatchObject({ code: 'InternalError' });
    await expect(microsoftStore.checkSettings(context, { callStore: false })).rejects.toMatchObject({
      code: 'InvalidPayload',
    });
  });
});

describe('validate (Microsoft Store) of a product that the store rejects', () => {
  it('throws InvalidPayload', async () => {
    const text = '{"code":"BadRequest","innererror":{"code":"InvalidParameter"}}';
    await expect(validateAgainst({ status: 400, text })).rejects.toMatchObject({ code: 'InvalidPayload' });
  });
});
